import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { invalidCredential } from '../credentials.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'
import { jsonFrom } from '../json-from.ts'
import type { MachineIdentity, UserIdentity } from '../types.ts'
import { identityFromClaims } from '../tokens/identity.ts'
import type { Introspector, IntrospectorParts } from '../tokens/introspection.ts'
import { isRecord, type Claims } from '../tokens/providers.ts'
import type { IntrospectionSettings } from './options.ts'

type TokenIdentity = MachineIdentity | UserIdentity

/** In bytes: callers that are remembered, about ten thousand. */
const MEMORY = 8 * 1024 * 1024
/** Of a caller, beside its own data: the hash of its token and the entry. */
const ENTRY = 256
/** Refusals that are remembered. */
const REFUSALS = 1_000
/** For how long they are, in milliseconds. */
const REFUSAL_TIME = 10_000
/** Tokens that the issuer may be asked about at once. */
const AT_ONCE = 128

interface Remembered<T> {
  readonly what: T
  /** In milliseconds since the epoch. */
  readonly until: number
}

/**
 * Remembers who holds a token, by its hash, for at most `cacheTime` and no longer than the token lives; refusals for
 * ten seconds; failures never. Requests with one token at the same time share one call.
 *
 * @see [RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)
 */
export function createIntrospector (
  { settings, endpoint, leftOut, log }: IntrospectorParts,
  options: IntrospectionSettings
): Introspector {
  const { cacheTime, timeout } = options
  const known = new LRUCache<string, Remembered<TokenIdentity>>({
    maxSize: MEMORY,
    sizeCalculation: ({ what }) => ENTRY + JSON.stringify(what).length
  })
  const refused = new LRUCache<string, Remembered<string>>({ max: REFUSALS })
  const asked = new Map<string, Promise<TokenIdentity>>()

  async function identityFrom (token: string, claims: Claims = {}): Promise<TokenIdentity> {
    const hash = createHash('sha256').update(token).digest('base64')
    const now = Date.now()
    const identity = known.get(hash)
    if (identity !== undefined && now < identity.until) return identity.what
    const reason = refused.get(hash)
    if (reason !== undefined && now < reason.until) throw invalidCredential(reason.what)
    let asking = asked.get(hash)
    if (asking === undefined) {
      asking = ask(token, claims, hash).finally(() => asked.delete(hash))
      asked.set(hash, asking)
    }
    return asking
  }

  async function ask (token: string, claims: Claims, hash: string): Promise<TokenIdentity> {
    const answer = await answerTo(token, claims)
    const now = Date.now()
    try {
      const said = claimsFromAnswer(answer, settings, now)
      const identity = identityFromClaims(said, settings, now, leftOut)
      known.set(hash, { what: identity, until: Math.min(now + cacheTime, Number(said.exp) * 1000) })
      return identity
    } catch (error) {
      if (error instanceof DUAL_AUTH_CREDENTIAL_INVALID) {
        refused.set(hash, { what: String(error.cause), until: now + REFUSAL_TIME })
      }
      throw error
    }
  }

  async function answerTo (token: string, claims: Claims): Promise<Claims> {
    try {
      const url = endpoint()
      if (url === undefined) throw new Error('the discovery document could not be read yet')
      if (asked.size >= AT_ONCE) throw new Error(`the issuer is being asked about ${AT_ONCE} other tokens`)
      const answer = await jsonFrom(
        url,
        'what the issuer says of a token',
        AbortSignal.timeout(timeout),
        settings.insecureHttp,
        question(token, options)
      )
      if (!isRecord(answer) || typeof answer.active !== 'boolean') {
        throw new Error(`what ${url} says of a token has no active that is true or false`)
      }
      if (
        ['iss', 'sub', 'jti'].some((name) =>
          answer[name] != null && claims[name] !== undefined && answer[name] !== claims[name]
        )
      ) throw new Error(`what ${url} says is of another token`)
      return answer
    } catch (err) {
      log.error({ err, issuer: settings.issuer }, 'a token could not be introspected')
      throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: err })
    }
  }

  return { identityFrom }
}

/**
 * @see [RFC 7662 §2.1](https://www.rfc-editor.org/rfc/rfc7662#section-2.1),
 * [RFC 6749 §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)
 */
function question (token: string, { clientId, clientSecret, clientAuth }: IntrospectionSettings) {
  const form = { token, token_type_hint: 'access_token' }
  if (clientAuth === 'client_secret_post') {
    return { form: { ...form, client_id: clientId, client_secret: clientSecret } }
  }
  return {
    form,
    headers: {
      authorization: `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')}`
    }
  }
}

const formEncoded = (part: string): string => new URLSearchParams({ part }).toString().slice('part='.length)

/**
 * The claims of a token in what its issuer says of it, complete: an issuer may leave out all but `active`, and some
 * write null for what there is not.
 *
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}
 */
function claimsFromAnswer (
  answer: Claims,
  { issuer, shape, clockTolerance }: IntrospectorParts['settings'],
  now: number
): Claims {
  if (answer.active !== true) throw invalidCredential('the issuer says that the token is not active')
  const claims = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null))
  const { iss = issuer, iat = 0, exp = Number.MAX_SAFE_INTEGER, nbf = 0, token_type: type = 'Bearer' } = claims
  if (iss !== issuer) throw invalidCredential('iss is another issuer')
  // Some name the kind of token here: a refresh token is active as well.
  if (!/^(?:bearer|access_token)$/i.test(String(type))) throw invalidCredential('token_type is not Bearer')
  if (typeof nbf !== 'number' || nbf * 1000 > now + clockTolerance) {
    throw invalidCredential('nbf is in the future, or not a time')
  }
  if (typeof exp === 'number' && exp * 1000 <= now - clockTolerance) throw invalidCredential('exp has passed')
  return { ...shape.fromAnswer!(claims), iss, iat, exp }
}
