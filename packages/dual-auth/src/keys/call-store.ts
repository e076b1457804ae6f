import type { FastifyBaseLogger } from 'fastify'
import {
  DUAL_AUTH_INVALID_OPTION,
  DUAL_AUTH_KEY_INACTIVE,
  DUAL_AUTH_KEY_LIMIT,
  DUAL_AUTH_KEY_REPLACED,
  DUAL_AUTH_MANAGEMENT_FORBIDDEN,
  DUAL_AUTH_OWNER_UNKNOWN,
  DUAL_AUTH_STORE_UNAVAILABLE
} from '../errors.ts'

/** What a store, or the host in its transaction, may answer: the store did not fail. */
const ANSWERS = [
  DUAL_AUTH_OWNER_UNKNOWN,
  DUAL_AUTH_MANAGEMENT_FORBIDDEN,
  DUAL_AUTH_INVALID_OPTION,
  DUAL_AUTH_KEY_INACTIVE,
  DUAL_AUTH_KEY_LIMIT,
  DUAL_AUTH_KEY_REPLACED
]

/**
 * Calls the store, with a deadline.
 *
 * @param late - receives a result that arrives after the deadline, when the caller has already got a 503; must not
 *   reject
 */
export type StoreCall = <T>(call: () => Promise<T>, late?: (result: T) => Promise<void>) => Promise<T>

/** What is called, if not the store. */
interface CallNames {
  /** What fails, for the log. */
  readonly name?: string
  /** Errors that are no failure. */
  readonly answers?: typeof ANSWERS
}

/**
 * Puts a deadline on every call to the store and turns its failures into one 503. A key that cannot be checked is
 * neither good nor bad: a 401 would make clients throw it away, a 500 would hide what is down. An unknown owner is a
 * result, not a failure; so is a key that cannot be rotated.
 *
 * @param timeout - in milliseconds
 */
export function createStoreCall (
  timeout: number,
  log: FastifyBaseLogger,
  { name = 'the API key store', answers = ANSWERS }: CallNames = {}
): StoreCall {
  return async (call, late) => {
    let timer: NodeJS.Timeout | undefined
    let result: ReturnType<typeof call> | undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        // An answer that came while the process was busy is read first: Node.js looks at timers, then at connections.
        setImmediate(() => reject(new DUAL_AUTH_STORE_UNAVAILABLE({ cause: `no answer in ${timeout} ms` })))
      }, timeout)
    })
    try {
      result = call()
      return await Promise.race([result, deadline])
    } catch (error) {
      if (answers.some((answer) => error instanceof answer)) throw error
      // If the call itself failed, `late` is not called.
      if (late !== undefined) result?.then(late, () => {})
      log.error({ err: error }, `${name} failed`)
      throw error instanceof DUAL_AUTH_STORE_UNAVAILABLE ? error : new DUAL_AUTH_STORE_UNAVAILABLE({ cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}
