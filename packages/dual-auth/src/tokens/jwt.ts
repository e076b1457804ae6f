import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyJwt from '@fastify/jwt'
import { invalidCredential } from '../credentials.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'
import type { JwtSettings } from '../options.ts'
import type { MachineIdentity, UserIdentity } from '../types.ts'
import { identityFromClaims, type Claims } from './identity.ts'
import { createKeySet, isKid } from './jwks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    dualAuthJwtVerify (): Promise<Claims>
  }
}

export interface TokenVerifier {
  /** Verifies the Bearer token of a request whose credential is a JWT. */
  identityFromToken (request: FastifyRequest): Promise<MachineIdentity | UserIdentity>
  /** Whether tokens can be verified at the moment: the provider's keys were read. */
  ready (): boolean
}

const REQUIRED_CLAIMS = ['iss', 'exp', 'iat', 'sub', 'client_id', 'token_use']
// RFC 8725 §3.11: a token of another declared type is not an access token.
const TYPES = [undefined, 'JWT', 'AT+JWT', 'APPLICATION/AT+JWT']

/**
 * Registers @fastify/jwt under the namespace `dualAuth`, beside any that the host registers, and supplies its keys.
 * Every fault of a token is the same 401; keys that cannot be read are a 503.
 */
export async function registerJwt (app: FastifyInstance, settings: JwtSettings): Promise<TokenVerifier> {
  const { issuer, algorithms, clockTolerance, jwksTimeout } = settings
  const keys = createKeySet(settings, app.log)

  await app.register(fastifyJwt, {
    namespace: 'dualAuth',
    jwtVerify: 'dualAuthJwtVerify',
    decoratorName: 'dualAuthClaims',
    decode: { complete: true },
    // A function, so that @fastify/jwt creates one verifier for each key and caches it.
    secret: (_request: FastifyRequest, token: unknown) => keys.find(kidFromToken(token, issuer, algorithms)),
    verify: {
      extractToken: request => request.headers.authorization?.slice('Bearer '.length),
      algorithms: [...algorithms],
      allowedIss: issuer,
      requiredClaims: REQUIRED_CLAIMS,
      clockTolerance,
      // A cached result would outlive the key that it depends on.
      cache: false
    }
  })
  // Startup waits for the keys, so that the first requests find them, but less than Fastify's pluginTimeout: a provider
  // that hangs must not stop the server. The read goes on in the background.
  app.addHook('onReady', async () => { await Promise.race([keys.refresh(), setTimeout(startupWait(app, jwksTimeout), undefined, { ref: false })]) })
  app.addHook('onClose', async () => { keys.close() })

  async function identityFromToken (request: FastifyRequest): Promise<MachineIdentity | UserIdentity> {
    try {
      return identityFromClaims(await request.dualAuthJwtVerify(), settings, Date.now())
    } catch (error) {
      if (error instanceof DUAL_AUTH_PROVIDER_UNAVAILABLE || error instanceof DUAL_AUTH_CREDENTIAL_INVALID) throw error
      throw new DUAL_AUTH_CREDENTIAL_INVALID({ cause: error instanceof Error ? error.message : error })
    }
  }

  return { identityFromToken, ready: keys.hasKeys }
}

/** How long startup waits for keys, in milliseconds: at most half of Fastify's `pluginTimeout`, where 0 is no limit. */
function startupWait ({ initialConfig: { pluginTimeout = 0 } }: FastifyInstance, jwksTimeout: number): number {
  return pluginTimeout === 0 ? jwksTimeout : Math.min(jwksTimeout, pluginTimeout / 2)
}

/**
 * The id of the key that a decoded, still unverified token names. Everything that can be rejected without the key is
 * rejected here, before a lookup: algorithm (RFC 8725 §3.1), critical extensions (RFC 7515 §4.1.11), another issuer.
 * `jku`, `x5u`, `x5c` and `jwk` are never read.
 *
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}
 */
function kidFromToken (token: unknown, issuer: string, algorithms: readonly string[]): string {
  const { header, payload, signature } = token as { header: Claims, payload: Claims, signature: string }
  if (typeof header.alg !== 'string' || !algorithms.includes(header.alg)) throw invalidCredential('alg is not allowed')
  if (!isKid(header.kid)) throw invalidCredential('kid is malformed')
  if (header.crit !== undefined) throw invalidCredential('crit is not supported')
  if (!TYPES.includes(typeof header.typ === 'string' ? header.typ.toUpperCase() : header.typ as undefined)) throw invalidCredential('typ is not an access token')
  if (payload.iss !== issuer) throw invalidCredential('iss is another issuer')
  // Otherwise unused bits at the end would allow several spellings of one signature.
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) throw invalidCredential('the signature is not canonical base64url')
  return header.kid
}
