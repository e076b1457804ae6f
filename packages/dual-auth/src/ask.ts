import type { FastifyBaseLogger } from 'fastify'
import { DUAL_AUTH_STORE_UNAVAILABLE } from './errors.ts'

/** Asks the store one thing. */
export type Ask = <T>(question: () => Promise<T>) => Promise<T>

/**
 * Puts a deadline on every question to the store and turns its failures into one 503. A key that cannot be
 * checked is neither good nor bad: a 401 would make clients throw it away, a 500 would hide what is down.
 *
 * @param timeout Milliseconds.
 */
export function createAsk (timeout: number, log: FastifyBaseLogger): Ask {
  return async question => {
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new DUAL_AUTH_STORE_UNAVAILABLE({ cause: `no answer in ${timeout} ms` })), timeout)
    })
    try {
      return await Promise.race([question(), deadline])
    } catch (error) {
      log.error({ err: error }, 'the API key store failed')
      throw error instanceof DUAL_AUTH_STORE_UNAVAILABLE ? error : new DUAL_AUTH_STORE_UNAVAILABLE({ cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}
