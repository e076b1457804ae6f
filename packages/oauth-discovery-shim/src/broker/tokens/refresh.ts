import type { FastifyBaseLogger } from 'fastify'
import type { Broker } from '../broker.ts'
import type { NamedClient } from '../clients/authentication.ts'
import { required, type Parameters } from '../parameters.ts'
import { refusal } from '../refusal.ts'
import { familyKey, lifetimeOf, responseFrom, REVOKED, type RefreshToken } from './refresh-token.ts'

/**
 * Each refresh token works once. The store knows only the number of the last one of its chain that was used. One that
 * comes again is a copy: nobody can tell whose, so the chain ends, here and at the identity provider. For a moment it
 * is let pass, because clients lose responses and refresh twice at the same time.
 *
 * @see [RFC 9700 §4.14.2](https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2)
 */
export async function refresh (parameters: Parameters, client: NamedClient, broker: Broker, log: FastifyBaseLogger): Promise<object> {
  const { sealer, provider, target, settings: { broker: { store, refreshGrace, sendResource } } } = broker
  const used = sealer.open<RefreshToken>('refresh', required(parameters, 'refresh_token'))
  if (used === undefined) {
    await client.mustBeKnown()
    throw refusal('invalid_grant', 'The refresh token is not valid or has expired')
  }
  await client.mustHold(used)
  const scope = parameters.get('scope')
  const isNarrower = scope === undefined || scope.split(' ').every(name => used.scope.split(' ').includes(name))
  if (!isNarrower) throw refusal('invalid_scope', `The scope must be part of: ${used.scope}`)

  const key = familyKey(used.family)
  const lifetime = lifetimeOf(broker)
  // whoever has this token proves that the one before it was used
  const last = await store.raise(key, used.generation - 1, lifetime)
  if (!last.raised && last.value >= used.generation) {
    const isRepeat = last.value === used.generation && Date.now() - last.since < refreshGrace
    if (!isRepeat) {
      if (last.value !== REVOKED) {
        log.warn({ client: used.client }, 'a refresh token was used again: its sign-in was ended, because somebody may have copied it')
        await store.raise(key, REVOKED, lifetime)
        await provider.revoke(used.token)
      }
      throw refusal('invalid_grant', 'The refresh token was used before or revoked')
    }
  }
  const tokens = await provider.tokens({
    grant_type: 'refresh_token', refresh_token: used.token, ...scope !== undefined && { scope }, ...sendResource && { resource: target.resources[0]! }
  })
  // only now: a client may try again if the identity provider could not be reached
  await store.raise(key, used.generation, lifetime)
  return responseFrom(tokens, used, broker)
}
