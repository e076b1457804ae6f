import type { FastifyBaseLogger } from 'fastify'
import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose'
import type { Settings } from '../../options.ts'
import { identityProvider, type Provider } from '../../provider.ts'
import type { TrustedIssuer } from './options.ts'

/** The public keys of trusted issuers. */
export interface TrustedKeys {
  /** Whether assertions of this issuer are accepted. */
  has(issuer: string): boolean
  /** `undefined` while the issuer could not be read yet. */
  of(issuer: string): JWTVerifyGetKey | undefined
  /** Reads what issuers say of themselves, then refreshes it in the background. Never rejects. */
  start(): Promise<void>
  stop(): void
}

/** @param provider - the identity provider, which is read already and may be one of them */
export function trustedKeys (
  issuers: readonly TrustedIssuer[],
  provider: Provider,
  settings: Settings,
  log: FastifyBaseLogger
): TrustedKeys {
  const readers: Provider[] = []
  const known = new Map(issuers.map(({ issuer, jwksUri }) => {
    if (jwksUri !== undefined) return [issuer, keysAt(() => jwksUri, settings.timeout)]
    if (issuer === settings.issuer) return [issuer, keysAt(() => provider.metadata()?.['jwks_uri'], settings.timeout)]
    const reader = identityProvider({ ...settings, issuer }, log)
    readers.push(reader)
    return [issuer, keysAt(() => reader.metadata()?.['jwks_uri'], settings.timeout)]
  }))
  return {
    has: (issuer) => known.has(issuer),
    of: (issuer) => known.get(issuer)?.(),
    async start () {
      await Promise.all(readers.map((reader) => reader.start()))
    },
    stop () {
      for (const reader of readers) reader.stop()
    }
  }
}

/**
 * Keys are read when they are needed, and kept for ten minutes; an unknown id has them read again, at most every 30
 * seconds.
 */
function keysAt (url: () => unknown, timeout: number): () => JWTVerifyGetKey | undefined {
  let keys: { readonly url: string, readonly get: JWTVerifyGetKey } | undefined
  return () => {
    const now = url()
    if (typeof now !== 'string') return undefined
    if (keys?.url !== now) keys = { url: now, get: createRemoteJWKSet(new URL(now), { timeoutDuration: timeout }) }
    return keys.get
  }
}
