import type { FastifyBaseLogger } from 'fastify'
import { DUAL_AUTH_OPTION_INVALID, DUAL_AUTH_SHOP_UNKNOWN, DUAL_AUTH_STORE_UNAVAILABLE } from '../errors.ts'

/**
 * Asks the store one thing.
 *
 * @param late is told the answer if it comes after the deadline, when whoever asked has got a 503; must not reject
 */
export type Ask = <T>(question: () => Promise<T>, late?: (answer: T) => Promise<void>) => Promise<T>

/**
 * Puts a deadline on every question to the store and turns its failures into one 503. A key that cannot be
 * checked is neither good nor bad: a 401 would make clients throw it away, a 500 would hide what is down. That a shop is
 * not there is an answer and no failure.
 *
 * @param timeout Milliseconds.
 */
export function createAsk (timeout: number, log: FastifyBaseLogger): Ask {
  return async (question, late) => {
    let timer: NodeJS.Timeout | undefined
    let answer: ReturnType<typeof question> | undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new DUAL_AUTH_STORE_UNAVAILABLE({ cause: `no answer in ${timeout} ms` })), timeout)
    })
    try {
      answer = question()
      return await Promise.race([answer, deadline])
    } catch (error) {
      if (error instanceof DUAL_AUTH_SHOP_UNKNOWN || error instanceof DUAL_AUTH_OPTION_INVALID) throw error
      // If it is the question that failed, then so has this.
      if (late !== undefined) answer?.then(late, () => {})
      log.error({ err: error }, 'the API key store failed')
      throw error instanceof DUAL_AUTH_STORE_UNAVAILABLE ? error : new DUAL_AUTH_STORE_UNAVAILABLE({ cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}
