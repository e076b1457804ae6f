import { boolean, duration, integer, must, noOthers, object, string } from '../option-checks.ts'

/** How this API asks the issuer about tokens that it cannot read itself, RFC 7662. */
export interface IntrospectionOptions {
  /** The client that the issuer knows this API by. */
  readonly clientId: string
  readonly clientSecret: string
  /** How the client authenticates: by HTTP Basic, or by its secret in the body. @default 'client_secret_basic' */
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post'
  /**
   * Where to ask.
   *
   * @default what the `/.well-known/openid-configuration` of the issuer says, if it is on the issuer's own origin
   */
  readonly endpoint?: string
  /**
   * Asks about JWTs of the issuer, too, once their signature was verified: for Keycloak's lightweight tokens, which say
   * little themselves, and to notice soon that a token was revoked.
   *
   * @default false: they are verified here alone
   */
  readonly jwts?: boolean
  /**
   * How long an answer is used, in milliseconds, at most 600000 and never longer than the token lives; 0: each request
   * asks. A token that was revoked works for so long.
   *
   * @default 60000
   */
  readonly cacheTime?: number
  /** How long the issuer may take to answer, in milliseconds. @default 5000 */
  readonly timeout?: number
}

/** The options, checked and complete. */
export interface IntrospectionSettings extends Required<Omit<IntrospectionOptions, 'endpoint'>> {
  readonly endpoint: string | undefined
}

const LONGEST_CACHE = 600_000

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function introspectionSettings (options: IntrospectionOptions): IntrospectionSettings {
  const {
    clientId,
    clientSecret,
    clientAuth = 'client_secret_basic',
    endpoint,
    jwts = false,
    cacheTime = 60_000,
    timeout = 5_000,
    ...rest
  } = object('introspection', options)
  noOthers('introspection.', rest)
  must(
    ['client_secret_basic', 'client_secret_post'].includes(clientAuth),
    'introspection.clientAuth must be client_secret_basic or client_secret_post'
  )
  must(
    integer('introspection.cacheTime', cacheTime, 0) <= LONGEST_CACHE,
    `introspection.cacheTime must be at most ${LONGEST_CACHE} milliseconds`
  )
  return {
    clientId: string('introspection.clientId', clientId),
    clientSecret: string('introspection.clientSecret', clientSecret),
    clientAuth,
    // Whether it may be on http is up to its issuer.
    endpoint: endpoint === undefined ? undefined : string('introspection.endpoint', endpoint),
    jwts: boolean('introspection.jwts', jwts),
    cacheTime,
    timeout: duration('introspection.timeout', timeout)
  }
}
