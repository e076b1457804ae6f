import { storeFailure } from './failure.ts'
import { readMembers, type Watch } from './read-members.ts'
import { assertRecords } from './records.ts'

/**
 * What a call of a store returns. What it throws is replaced by {@link storeFailure}: the message of a database error
 * contains the statement, and Fastify would send it to the client. The failure is the `cause`, for the log. Errors with
 * a `statusCode` are meant for the client and pass.
 */
export async function anyFromStore<Result> (call: () => Promise<Result>): Promise<Result> {
  try {
    return await call()
  } catch (error) {
    throw error instanceof Error && 'statusCode' in error ? error : storeFailure(error)
  }
}

/**
 * The records that a call of a store returns.
 *
 * @param method - of the store, as messages name it
 * @throws what {@link anyFromStore} does, also if members of a record have wrong types
 */
export function fromStore<Result> (method: string, call: () => Promise<Result>): Promise<Result> {
  return anyFromStore(async () => {
    const result = await call()
    assertRecords(result, method)
    return result
  })
}

/**
 * The same for a method with conditions, which must read all of them unless it finds or changes nothing: a store that
 * does not know a filter would return all records as if they matched, and a run would change accounts that it is not
 * limited to.
 *
 * @param call - passes objects with conditions to `watch`, and what it returns to the store
 * @param isAnything - whether the method found or changed anything
 */
export function fromReadingStore<Result> (
  method: string,
  call: (watch: Watch) => Promise<Result>,
  isAnything: (result: Result) => boolean
): Promise<Result> {
  const { watch, unread } = readMembers()
  return fromStore(method, async () => {
    const result = await call(watch)
    if (isAnything(result) && unread.size > 0) {
      throw new TypeError(`the store did not read ${[...unread].join(', ')}, which limits what ${method} does`)
    }
    return result
  })
}
