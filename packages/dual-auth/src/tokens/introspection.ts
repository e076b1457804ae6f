import type { FastifyBaseLogger } from 'fastify'
import type { MachineIdentity, UserIdentity } from '../types.ts'
import type { ClaimRules, LeftOut } from './identity.ts'
import type { Claims } from './providers.ts'

/** How an issuer is asked about tokens. `introspection()` of `dual-auth/introspection` makes it. */
export interface Introspection {
  /** Its import. */
  readonly name: typeof INTROSPECTION
  /** Where to ask; undefined: what the issuer publishes. */
  readonly endpoint: string | undefined
  /** Whether it is asked about JWTs, too. */
  readonly jwts: boolean
  readonly create: (parts: IntrospectorParts) => Introspector
}

export const INTROSPECTION = 'dual-auth/introspection'

export interface IntrospectorParts {
  readonly settings: ClaimRules & { readonly issuer: string, readonly insecureHttp: boolean }
  /** Where to ask; undefined until the discovery document was read. */
  readonly endpoint: () => string | undefined
  readonly leftOut: LeftOut
  readonly log: FastifyBaseLogger
}

/** Asks the issuer what a token is. */
export interface Introspector {
  /**
   * @param claims - those of the token itself, verified, if it is a JWT
   * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} if the issuer says that it is not active, or says of it what is not
   *   accepted
   * @throws {@link DUAL_AUTH_PROVIDER_UNAVAILABLE} if the issuer does not say what RFC 7662 §2.2 promises
   */
  identityFrom(token: string, claims?: Claims): Promise<MachineIdentity | UserIdentity>
}
