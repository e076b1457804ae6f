import { BOOLEAN, DURATION, milliseconds, oneOf, type Table, TEXT } from '#shared/option-table'
import { settingsBy } from '../option-checks.ts'

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

const TABLE: Table<IntrospectionSettings> = {
  clientId: { ...TEXT, required: true },
  clientSecret: { ...TEXT, secret: true, required: true },
  clientAuth: { ...oneOf('client_secret_basic', 'client_secret_post'), default: 'client_secret_basic' },
  // Whether it may be on http is up to its issuer.
  endpoint: TEXT,
  jwts: { ...BOOLEAN, default: false },
  cacheTime: { ...milliseconds(0, 600_000), default: 60_000 },
  timeout: { ...DURATION, default: 5_000 }
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function introspectionSettings (options: IntrospectionOptions): IntrospectionSettings {
  return settingsBy(TABLE, options, 'introspection')
}
