import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyJwt from '@fastify/jwt'
import { invalidCredential } from '../credentials.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'
import type { JwtSettings } from '../options.ts'
import type { MachineIdentity, UserIdentity } from '../types.ts'
import { identityFromClaims } from './identity.ts'
import { createKeySet, isKid, type KeySet } from './jwks.ts'
import { flawOfAny, namesOtherKind, TENANT, type Claims } from './providers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    dualAuthJwtVerify(): Promise<Claims>
  }
}

export interface TokenVerifier {
  /** Verifies the Bearer token of a request whose credential is a JWT. */
  identityFromToken(request: FastifyRequest, token: string): Promise<MachineIdentity | UserIdentity>
  /** Asks its issuer about a token that is no JWT. */
  identityFromOpaque(token: string): Promise<MachineIdentity | UserIdentity>
  /** Whether tokens can be verified at the moment: the provider's keys were read. */
  ready(): boolean
}

/** Where the option `jwt` accepts none. */
export const NO_TOKENS: TokenVerifier = {
  identityFromToken: async () => {
    throw invalidCredential('no tokens are accepted: there is no issuer in jwt')
  },
  identityFromOpaque: async () => {
    throw invalidCredential('no tokens are accepted: there is no issuer in jwt')
  },
  ready: () => true
}

// Others are the provider's.
const REQUIRED_CLAIMS = ['iss', 'exp', 'iat']

/** Of types that name a kind of token (RFC 8725 §3.11), the one of access tokens. */
const ACCESS_TYPE = /^(?:APPLICATION\/)?AT\+JWT$/

/** An issuer of tokens and its signing keys. */
interface Issuer {
  readonly settings: JwtSettings
  readonly keys: KeySet
}

/**
 * Registers @fastify/jwt under the namespace `dualAuth`, beside any that the host registers, and supplies its keys.
 * Every fault of a token is the same 401; keys that cannot be read are a 503.
 */
export async function registerJwt (app: FastifyInstance, issuers: readonly JwtSettings[]): Promise<TokenVerifier> {
  // The keys that a token was verified with, for a second look.
  const keysOf = new WeakMap<FastifyRequest, KeySet>()
  const told = new Set<string>()
  const known: readonly Issuer[] = issuers.map((settings) => ({ settings, keys: createKeySet(settings, app.log) }))
  const asked = known.find(({ settings }) => settings.introspection !== undefined)
  const introspector = asked?.settings.introspection?.create({
    settings: asked.settings,
    endpoint: asked.keys.introspectionEndpoint,
    leftOut: (claim) => tellOnce(asked.settings.issuer, claim),
    log: app.log
  })
  for (const { issuer, audience } of issuers) {
    // Only Cognito's may be left out: its tokens have an aud only if the client requested a resource.
    if (audience === undefined) {
      app.log.warn(
        { issuer },
        'jwt.audience is not set: tokens that clients requested for another resource are accepted too'
      )
    }
  }

  await app.register(fastifyJwt, {
    namespace: 'dualAuth',
    jwtVerify: 'dualAuthJwtVerify',
    decoratorName: 'dualAuthClaims',
    decode: { complete: true },
    // A function, so that @fastify/jwt creates one verifier for each key and caches it.
    secret: async (request: FastifyRequest, token: unknown) => {
      const issuer = issuerOf((token as DecodedToken).payload, known)
      keysOf.set(request, issuer.keys)
      return keyFromToken(token as DecodedToken, issuer)
    },
    verify: {
      extractToken: (request) => request.headers.authorization?.slice('Bearer '.length),
      // Those of the token's own issuer are checked with its key.
      algorithms: [
        ...new Set(
          issuers.flatMap(({ algorithms }) => algorithms as Array<Exclude<typeof algorithms[number], 'Ed25519'>>)
        )
      ],
      requiredClaims: REQUIRED_CLAIMS,
      clockTolerance: issuers[0]!.clockTolerance,
      // A cached result would outlive the key that it depends on.
      cache: false
    }
  })
  // Startup waits for the keys, so that the first requests find them, but less than Fastify's pluginTimeout: a provider
  // that hangs must not stop the server. The read goes on in the background.
  app.addHook('onReady', async () => {
    const wait = startupWait(app, Math.max(...issuers.map(({ jwksTimeout }) => jwksTimeout)))
    await Promise.race([
      Promise.all(known.map(({ keys }) => keys.refresh())),
      setTimeout(wait, undefined, { ref: false })
    ])
    for (const { keys } of known) keys.demandIssuer()
  })
  app.addHook('onClose', async () => {
    for (const { keys } of known) keys.close()
  })

  async function identityFromToken (request: FastifyRequest, token: string): Promise<MachineIdentity | UserIdentity> {
    try {
      const claims = await request.dualAuthJwtVerify().catch(async (error) => {
        // The issuer may have replaced a key under its name.
        if (!String(error.message).includes('signature is invalid') || !await keysOf.get(request)?.readAgain()) {
          throw error
        }
        return request.dualAuthJwtVerify()
      })
      const { settings } = issuerOf(claims, known)
      if (settings.introspection?.jwts === true) {
        // The answer may leave out what the token says.
        const flaw = flawOfAny(claims)
        if (flaw !== undefined) throw invalidCredential(flaw)
        return await introspector!.identityFrom(token, claims)
      }
      return identityFromClaims(claims, settings, Date.now(), (claim) => tellOnce(settings.issuer, claim))
    } catch (error) {
      if (error instanceof DUAL_AUTH_PROVIDER_UNAVAILABLE || error instanceof DUAL_AUTH_CREDENTIAL_INVALID) throw error
      throw new DUAL_AUTH_CREDENTIAL_INVALID({ cause: error instanceof Error ? error.message : error })
    }
  }

  async function identityFromOpaque (token: string): Promise<MachineIdentity | UserIdentity> {
    if (introspector === undefined) {
      throw invalidCredential(
        'the token is opaque, not a JWT: some issuers send one to a client that requests no audience'
      )
    }
    return introspector.identityFrom(token)
  }

  function tellOnce (issuer: string, claim: string): void {
    if (told.has(`${issuer} ${claim}`)) return
    told.add(`${issuer} ${claim}`)
    app.log.warn({ issuer, claim }, 'a claim of a person has an unknown shape: what cannot be read of it is left out')
  }

  return { identityFromToken, identityFromOpaque, ready: () => known.every(({ keys }) => keys.hasKeys()) }
}

/** How long startup waits for keys, in milliseconds: at most half of Fastify's `pluginTimeout`, where 0 is no limit. */
function startupWait ({ initialConfig: { pluginTimeout = 0 } }: FastifyInstance, jwksTimeout: number): number {
  return pluginTimeout === 0 ? jwksTimeout : Math.min(jwksTimeout, pluginTimeout / 2)
}

interface DecodedToken {
  readonly header: Claims
  readonly payload: Claims
  readonly signature: string
}

/**
 * The key of a decoded, still unverified token. Everything that can be rejected without the key is rejected before the
 * lookup: another issuer, algorithm (RFC 8725 §3.1), type (§3.11), critical extensions (RFC 7515 §4.1.11).
 * `jku`, `x5u`, `x5c` and `jwk` are never read.
 *
 * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID}
 */
async function keyFromToken (
  { header, payload, signature }: DecodedToken,
  { settings: { algorithms, shape }, keys }: Issuer
): Promise<string> {
  const { alg, kid, typ } = header
  if (typeof alg !== 'string' || !algorithms.some((allowed) => allowed === alg)) {
    throw invalidCredential('alg is not allowed')
  }
  if (kid !== undefined && !isKid(kid)) throw invalidCredential('kid is malformed')
  if (header.crit !== undefined) throw invalidCredential('crit is not supported')
  if (!isAccessType(typeof typ === 'string' ? typ.toUpperCase() : typ, shape.types)) {
    throw invalidCredential('typ is not an access token')
  }
  // Otherwise unused bits at the end would allow several spellings of one signature.
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) {
    throw invalidCredential('the signature is not canonical base64url')
  }
  return keys.find({ kid, alg, issuer: String(payload.iss) })
}

function isAccessType (typ: unknown, types: ReadonlyArray<string | undefined> | undefined): boolean {
  if (types !== undefined) return types.some((type) => type === typ)
  if (typ === undefined) return true
  if (typeof typ !== 'string') return false
  return typ.includes('+') ? ACCESS_TYPE.test(typ) : !namesOtherKind(typ)
}

function issuerOf ({ iss, tid }: Claims, issuers: readonly Issuer[]): Issuer {
  const found = issuers.find(({ settings: { issuer, tenants } }) =>
    tenants === undefined
      ? iss === issuer
      : typeof tid === 'string' && tenants.includes(tid) && iss === issuer.replace(TENANT, tid)
  )
  if (found === undefined) throw invalidCredential('iss is another issuer')
  return found
}
