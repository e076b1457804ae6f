import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT } from './errors.ts'
import { textUpTo } from './http-response.ts'
import { providerMetadataFromText, type ProviderMetadata } from './provider-metadata.ts'
import type { Settings } from './options.ts'

/** In bytes; a discovery document has a few thousand. */
const LARGEST_DOCUMENT = 256 * 1024
const FIRST_RETRY = 1_000
const LONGEST_RETRY = 60_000

/** The identity provider's document, refreshed in the background. */
export interface Provider {
  /** The last good copy; `undefined` until there is one. */
  metadata(): ProviderMetadata | undefined
  /** Whole seconds until the next attempt to read it, at least 1. */
  retryAfter(): number
  /** Reads it once, then refreshes it in the background. Never rejects. */
  start(): Promise<void>
  stop(): void
}

/** Reads the document at startup, after each `refreshInterval`, and sooner after a failure. */
export function identityProvider (
  { issuer, insecureHttp, timeout, refreshInterval }: Pick<
    Settings,
    'issuer' | 'insecureHttp' | 'timeout' | 'refreshInterval'
  >,
  log: FastifyBaseLogger
): Provider {
  // The document of an app of several tenants is that of all organizations, and has the placeholder in its issuer.
  const url = `${issuer.replace('{tenantid}', 'organizations').replace(/\/$/, '')}/.well-known/openid-configuration`
  const closing = new AbortController()
  let metadata: ProviderMetadata | undefined
  let failures = 0
  let nextAttempt = Date.now()
  let timer: NodeJS.Timeout | undefined

  async function refresh (): Promise<void> {
    try {
      const text = await textFrom(url, AbortSignal.any([closing.signal, AbortSignal.timeout(timeout)]))
      metadata = providerMetadataFromText(text, issuer, insecureHttp)
      failures = 0
    } catch (err) {
      failures += 1
      if (!closing.signal.aborted) {
        if (metadata) {
          log.warn(
            { err, url, timeout },
            'the identity provider could not be read: its last good document stays in use'
          )
        } else log.error({ err, url, timeout }, 'the identity provider could not be read: clients cannot sign in yet')
      }
    }
    if (closing.signal.aborted) return
    const wait = failures === 0
      ? refreshInterval
      : Math.min(FIRST_RETRY * 2 ** (failures - 1), LONGEST_RETRY, refreshInterval)
    nextAttempt = Date.now() + wait
    timer = setTimeout(refresh, wait).unref()
  }

  return {
    metadata: () => metadata,
    retryAfter: () => Math.max(1, Math.ceil((nextAttempt - Date.now()) / 1000)),
    start: refresh,
    stop () {
      closing.abort()
      clearTimeout(timer)
    }
  }
}

/**
 * Has startup wait for a first read, so that the first clients find it, but at most half of Fastify's `pluginTimeout`,
 * where 0 is no limit: a provider that hangs must not stop the server. The read goes on in the background.
 */
export function readAtStartup (
  app: FastifyInstance,
  { start, stop }: Pick<Provider, 'start' | 'stop'>,
  timeout: number
): void {
  const { pluginTimeout } = app.initialConfig
  const wait = pluginTimeout ? Math.min(timeout, pluginTimeout / 2) : timeout
  app.addHook('onReady', async () => {
    await Promise.race([start(), sleep(wait, undefined, { ref: false })])
  })
  app.addHook('onClose', async () => stop())
}

async function textFrom (url: string, signal: AbortSignal): Promise<string> {
  // not followed: a redirect could make this server connect to any host
  const response = await fetch(url, {
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    redirect: 'error',
    signal
  })
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT(`reading it returned ${response.status}`)
  }
  return await textUpTo(
    response.body,
    LARGEST_DOCUMENT,
    () => new OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT(`it is larger than ${LARGEST_DOCUMENT} bytes`)
  )
}
