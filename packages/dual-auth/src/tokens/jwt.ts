import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyJwt from '@fastify/jwt'
import type { ResolvedJwtOptions } from '../options.ts'
import { identityFromClaims, type Claims, type MachineIdentity, type UserIdentity } from './identity.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'
import { createKeySet, isKid } from './jwks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    dualAuthJwtVerify (): Promise<Claims>
  }
}

/** Verifies tokens. */
export interface TokenCheck {
  /** Verifies the Bearer token of a request whose credential is a JWT. */
  identityFromToken (request: FastifyRequest): Promise<MachineIdentity | UserIdentity>
  /** Whether tokens can be verified at the moment: the provider's keys are known. */
  ready (): boolean
}

const REQUIRED_CLAIMS = ['iss', 'exp', 'iat', 'sub', 'client_id', 'token_use']
// RFC 8725 §3.11: a token that says it is something else is something else.
const TYPES = [undefined, 'JWT', 'AT+JWT', 'APPLICATION/AT+JWT']

/**
 * Registers @fastify/jwt under the namespace `dualAuth`, beside any that the host has, and feeds it keys.
 * Whatever it or the key set finds wrong with a token is one 401; keys that cannot be had are a 503.
 */
export async function registerJwt (app: FastifyInstance, options: ResolvedJwtOptions): Promise<TokenCheck> {
  const { issuer, algorithms, clockTolerance, jwksTimeout } = options
  const keys = createKeySet(options, app.log)

  await app.register(fastifyJwt, {
    namespace: 'dualAuth',
    jwtVerify: 'dualAuthJwtVerify',
    decoratorName: 'dualAuthClaims',
    decode: { complete: true },
    // A function, so that @fastify/jwt makes one verifier for each key and keeps it.
    secret: (_request: FastifyRequest, token: unknown) => keys.find(kidFromToken(token, issuer, algorithms)),
    verify: {
      extractToken: request => request.headers.authorization?.slice('Bearer '.length),
      algorithms: [...algorithms],
      allowedIss: issuer,
      requiredClaims: REQUIRED_CLAIMS,
      clockTolerance: clockTolerance * 1000,
      // A cached verdict would outlive the key it rests on.
      cache: false
    }
  })
  // The first requests shall find keys, and a provider that hangs shall stop nobody: the boot waits for the reading,
  // but not until Fastify gives it up. The reading goes on.
  app.addHook('onReady', async () => { await Promise.race([keys.refresh(), setTimeout(patience(app, jwksTimeout), undefined, { ref: false })]) })
  app.addHook('onClose', async () => { keys.close() })

  async function identityFromToken (request: FastifyRequest): Promise<MachineIdentity | UserIdentity> {
    try {
      return identityFromClaims(await request.dualAuthJwtVerify(), options, Date.now() / 1000)
    } catch (error) {
      if (error instanceof DUAL_AUTH_PROVIDER_UNAVAILABLE || error instanceof DUAL_AUTH_CREDENTIAL_INVALID) throw error
      throw new DUAL_AUTH_CREDENTIAL_INVALID({ cause: error instanceof Error ? error.message : error })
    }
  }

  return { identityFromToken, ready: keys.known }
}

/** How long the boot waits for keys, in milliseconds: half of what Fastify gives each of its steps, where 0 is any time. */
function patience ({ initialConfig: { pluginTimeout = 0 } }: FastifyInstance, jwksTimeout: number): number {
  return pluginTimeout === 0 ? jwksTimeout : Math.min(jwksTimeout, pluginTimeout / 2)
}

/**
 * The id of the key that a decoded, still unverified token asks for. Everything that can be refused without
 * the key is refused here, before a lookup: algorithm (RFC 8725 §3.1), critical extensions (RFC 7515 §4.1.11),
 * another issuer. `jku`, `x5u`, `x5c` and `jwk` are never looked at.
 *
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}
 */
function kidFromToken (token: unknown, issuer: string, algorithms: readonly string[]): string {
  const { header, payload, signature } = token as { header: Claims, payload: Claims, signature: string }
  if (typeof header.alg !== 'string' || !algorithms.includes(header.alg)) throw refusal('alg is not allowed')
  if (!isKid(header.kid)) throw refusal('kid is malformed')
  if (header.crit !== undefined) throw refusal('crit is not supported')
  if (!TYPES.includes(typeof header.typ === 'string' ? header.typ.toUpperCase() : header.typ as undefined)) throw refusal('typ is not an access token')
  if (payload.iss !== issuer) throw refusal('iss is another issuer')
  // Unused bits at the end would let one signature be written in several ways.
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) throw refusal('the signature is not canonical base64url')
  return header.kid
}

function refusal (reason: string) {
  return new DUAL_AUTH_CREDENTIAL_INVALID({ cause: reason })
}
