import type { FastifyInstance } from 'fastify'
import type { Redis } from 'ioredis'

/** Between two checks of a Redis that does not count, in milliseconds. */
const RETRY = 1000

const ALONE = 'each server limits calls alone'

/** Counters in Redis, and whether it counts: a Redis that answers `PING` may refuse to. */
export interface SharedCounts {
  /** Counts or reads in Redis. @returns undefined if it does not count: then the server has to do so alone */
  attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined>
  /** Checks whether Redis counts. @returns `ok`, or what is wrong */
  condition(): Promise<string>
}

/**
 * Counts in Redis as long as a check finds that it can. After a check has failed, no call waits for Redis, and the
 * check is repeated until it succeeds.
 *
 * @param check - does all that counting needs
 */
export function sharedCounts (app: FastifyInstance, redis: Redis, check: () => Promise<void>): SharedCounts {
  // Its connection is made in the background.
  let [isCounting, hasFailed] = [false, false]
  let checking: Promise<string> | undefined

  function succeeded (): string {
    if (hasFailed) app.log.info('Redis counts calls again')
    ;[isCounting, hasFailed] = [true, false]
    return 'ok'
  }

  function failed (err: Error): string {
    const isConnected = redis.status === 'ready'
    // The line about a lost connection says why.
    if (isConnected) app.log.error({ err, needed: 'redis' }, `Redis does not count calls: ${ALONE} until it does`)
    ;[isCounting, hasFailed] = [false, true]
    const code = codeOf(err)
    return isConnected && code !== undefined ? `it does not count (${code}): ${ALONE}` : `it does not respond: ${ALONE}`
  }

  /** An answer that is late once is that of a busy moment. */
  async function again (err: Error): Promise<void> {
    if (redis.status !== 'ready' || codeOf(err) !== undefined) throw err
    await check()
  }

  async function condition (): Promise<string> {
    checking ??= check().catch(again).then(succeeded, failed).finally(() => {
      checking = undefined
    })
    return await checking
  }

  redis.on('ready', condition)
  const timer = setInterval(() => {
    if (!isCounting && redis.status === 'ready') condition()
  }, RETRY).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
  })

  return {
    async attempt (work) {
      if (!isCounting) return undefined
      try {
        return await work()
      } catch {
        // Says why, if it is not this call alone.
        condition()
        return undefined
      }
    },
    condition
  }
}

/** The first word of an answer of Redis that is an error, such as `OOM`. */
function codeOf ({ message }: Error): string | undefined {
  return /^[A-Z]+(?= )/.exec(message)?.[0]
}
