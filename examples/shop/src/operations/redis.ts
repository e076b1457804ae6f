import type { FastifyBaseLogger } from 'fastify'
import type { Redis } from 'ioredis'

/** How long Redis may take for an answer, in milliseconds; a caller waits that long at most when it hangs. */
const ANSWER = 300
const LONGEST_RETRY = 5000

/** How often an outage is logged at most, in milliseconds. */
const LOG_EVERY = 60_000

/**
 * A connection that never makes a caller wait: while Redis is away every command fails at once, and in the
 * background it is tried again.
 *
 * @param url - `redis://user:password@host:port/number`, `rediss:` for TLS
 */
export async function openRedis (url: string, log: FastifyBaseLogger): Promise<Redis> {
  // Loaded here: without the setting nobody waits for the library.
  const { Redis } = await import('ioredis')
  let loggedAt = -Infinity
  const redis = new Redis(url, {
    connectTimeout: 2000,
    commandTimeout: ANSWER,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * 200, LONGEST_RETRY)
  })
  redis.on('error', (err) => {
    if (performance.now() - loggedAt < LOG_EVERY) return
    loggedAt = performance.now()
    log.error({ err }, 'Redis cannot be reached: calls are not limited until it is back')
  })
  redis.on('ready', () => {
    if (loggedAt !== -Infinity) log.info('Redis is back: calls are limited again')
    loggedAt = -Infinity
  })
  return redis
}

/** Whether Redis answers at the moment; takes {@link ANSWER} at most. */
export async function redisAnswers (redis: Redis): Promise<boolean> {
  return await redis.ping().then(() => true, () => false)
}
