import type { FastifyBaseLogger } from 'fastify'
import type { Redis } from 'ioredis'

/**
 * Time limit for a response of Redis, in milliseconds: how long callers wait if it hangs. One that came while the
 * server was busy is read first, since a busy server must not count alone for that.
 */
const ANSWER = 300
const LONGEST_RETRY = 5000

/**
 * How long Redis may be silent until its connection is made anew, in milliseconds: one that died without a word stays
 * open.
 */
const SILENCE = 5000
const KEEP_ALIVE = 10_000

/**
 * A connection that never makes a caller wait: while Redis is down every command fails at once, and the connection
 * is retried in the background.
 *
 * @param url - `redis://user:password@host:port/number`, `rediss:` for TLS
 */
export async function openRedis (url: string, log: FastifyBaseLogger): Promise<Redis> {
  // Loaded here, so that a server without the setting does not load the library.
  const { Redis } = await import('ioredis')
  class PatientRedis extends Redis {
    override sendCommand (...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
      const timer = setTimeout(() => {
        // Node.js looks at timers first, then reads from connections, then does this.
        setImmediate(() => command.reject(new Error('Command timed out')))
      }, ANSWER)
      command.promise.catch(() => {}).finally(() => clearTimeout(timer))
      return super.sendCommand(command, stream)
    }
  }
  const redis = new PatientRedis(url, {
    // Which older servers and proxies speak as well.
    protocol: 2,
    connectTimeout: 2000,
    socketTimeout: SILENCE,
    keepAlive: KEEP_ALIVE,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt) => Math.min(attempt * 200, LONGEST_RETRY)
  })
  redis.on('error', (err) => {
    log.error({ err, needed: 'redis' }, 'Redis cannot be reached: each server limits calls alone until it can')
  })
  return redis
}
