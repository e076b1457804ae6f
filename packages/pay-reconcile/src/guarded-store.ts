import { PAY_RECONCILE_STORE_FAILED } from './errors.ts'

/**
 * The same store, with its failures replaced by {@link PAY_RECONCILE_STORE_FAILED}: the message of a database error contains
 * the statement, and Fastify would send it to the client. The failure is the `cause`, for the log.
 * Errors with a `statusCode` are meant for the client and pass.
 */
export function guardedStore<Store extends object> (store: Store): Store {
  return new Proxy(store, {
    get (target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member === 'object' && member !== null) return guardedStore(member)
      if (typeof member !== 'function') return member
      return async (...args: unknown[]) => {
        try {
          return await member.apply(target, args)
        } catch (error) {
          throw error instanceof Error && 'statusCode' in error ? error : new PAY_RECONCILE_STORE_FAILED({ cause: error })
        }
      }
    }
  })
}
