import type { FastifyBaseLogger } from 'fastify'
import type { Broker } from '../broker.ts'
import type { NamedClient } from '../clients/authentication.ts'
import { required, type Parameters } from '../parameters.ts'
import { refusal, type Refusal } from '../refusal.ts'
import type { Raised } from '../store/memory.ts'
import { familyKey, lifetimeOf, responseFrom, REVOKED, type RefreshToken } from './refresh-token.ts'

/**
 * Each refresh token works once. The store knows only the number of the last one of its chain that was used. If one
 * comes again, there is a copy, and the server cannot tell which is real. So the chain ends, here and at the identity
 * provider. For a moment it is let pass, because clients lose responses and refresh twice at the same time.
 *
 * @see [RFC 9700 §4.14.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2)
 */
export async function refresh (
  parameters: Parameters,
  client: NamedClient,
  broker: Broker,
  log: FastifyBaseLogger
): Promise<object> {
  const { sealer, provider, store, grants, shared, target, settings: { refreshGrace, sendResource } } = broker
  const used = sealer.open<RefreshToken>('refresh', required(parameters, 'refresh_token'))
  if (used === undefined) {
    await client.mustBeKnown()
    throw refusal('invalid_grant', 'The refresh token is not valid or has expired')
  }
  await client.mustHold(used)
  const scope = scopeOf(parameters.get('scope'), used, target.requiredScopes)

  const { family, generation, client: holder } = used
  const key = familyKey(family)
  const lifetime = lifetimeOf(broker)
  const mayNotUse = wasUsed(generation, Date.now(), refreshGrace)
  async function end (token: string): Promise<Refusal> {
    const { raised } = await store.raise(key, REVOKED, lifetime)
    if (raised) {
      log.warn(
        { client: holder },
        'a refresh token was used again: its sign-in was ended, because somebody may have copied it'
      )
    }
    await provider.revoke(token)
    await grants?.ended(family)
    return over()
  }

  // this token proves that the one before it was used
  const last = await store.raise(key, generation - 1, lifetime)
  if (mayNotUse(last)) throw last.value === REVOKED ? over() : await end(used.token)
  // The scope always: some providers do not remember what they granted, and issue a token for something else.
  const tokens = await shared(`${family} ${generation} ${scope}`, refreshGrace, () =>
    provider.tokens({
      grant_type: 'refresh_token',
      refresh_token: used.token,
      scope,
      ...sendResource && { resource: target.resource }
    }))
  // only now: a client may try again if the identity provider could not be reached
  const now = await store.raise(key, generation, lifetime)
  // Meanwhile, on this replica or another, it was used as well or revoked: what the provider gave in its place ends,
  // too.
  if (mayNotUse(now)) throw await end(tokens.refreshToken ?? used.token)
  await grants?.issued(family, client.id, used.scope, tokens)
  return responseFrom({ scope, ...tokens }, used, broker)
}

/**
 * What to request: all that was granted, or the part that the client wants. A client may repeat what it asked for at
 * first, though the provider granted less. It cannot do without what it did not ask for, in its own words or at all:
 * otherwise the token could be for another API.
 *
 * @throws a {@link refusal} `invalid_scope`
 */
function scopeOf (
  wanted: string | undefined,
  { scope, asked = scope }: RefreshToken,
  required: readonly string[]
): string {
  if (wanted === undefined) return scope
  const [granted, known, names] = [scope.split(' '), asked.split(' '), wanted.split(' ')]
  if (
    !names.some((name) => granted.includes(name)) ||
    !names.every((name) => granted.includes(name) || known.includes(name))
  ) throw refusal('invalid_scope', `The scope must be part of: ${scope}`)
  return granted.filter((name) => names.includes(name) || required.includes(name) || !known.includes(name)).join(' ')
}

type NotRaised = Raised & { readonly raised: false }

/** Whether the token with this number comes again, and is no repeat that is let pass at this time. */
function wasUsed (generation: number, time: number, grace: number) {
  return (state: Raised): state is NotRaised => {
    if (state.raised || state.value < generation) return false
    // The clock of another replica may be ahead of this one, which must not let a token pass.
    return state.value > generation || Math.max(0, time - state.since) >= grace
  }
}

const over = (): Refusal => refusal('invalid_grant', 'The refresh token was used before or revoked')
