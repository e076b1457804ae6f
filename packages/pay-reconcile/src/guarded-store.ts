import { storeFailure } from './store-failure.ts'

/**
 * The same store, with its failures replaced by {@link storeFailure}: the message of a database error
 * contains the statement, and Fastify would send it to the client. The failure is the `cause`, for the log. Errors with
 * a `statusCode` are meant for the client and pass.
 *
 * A method that did not read one of its conditions fails, too, unless it found or changed nothing: a store that does
 * not know a filter would return all records as if they matched, and a run would change accounts that it is not limited
 * to. So does one whose records have members of wrong types.
 */
export function guardedStore<Store extends object> (store: Store): Store {
  return new Proxy(store, {
    get (target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member === 'object' && member !== null) return guardedStore(member)
      if (typeof member !== 'function') return member
      const conditions = conditionsOf[name as keyof typeof conditionsOf] as Conditions | undefined
      return async (...args: unknown[]) => {
        const unread = new Set<string>()
        try {
          const result = await member.apply(target, conditions?.watched(args, watching(unread)) ?? args)
          // The targets of a run are a map by account ids, whatever those are: no record.
          if (name !== 'targets') assertRecords(result, String(name))
          if (conditions?.isAnything(result) && unread.size > 0) {
            throw new TypeError(
              `the store did not read ${[...unread].join(', ')}, which limits what ${String(name)} does`
            )
          }
          return result
        } catch (error) {
          throw error instanceof Error && 'statusCode' in error ? error : storeFailure(error)
        }
      }
    }
  })
}

/**
 * Copies an object, and notes which of its members are read. @param path - of the object, for the message
 *
 * @param names - of the conditions; default: all members
 */
type Watch = (object: object, path: string, names?: readonly string[]) => object

/** The conditions among the arguments of a method. */
interface Conditions {
  readonly watched: (args: any[], watch: Watch) => unknown[]
  /** Whether the method found or changed anything. */
  readonly isAnything: (result: any) => boolean
}

const isCounted = ({ count }: { readonly count: number }): boolean => count > 0
const isFound = ({ length }: readonly unknown[]): boolean => length > 0
/**
 * A shop without accounts is no find: a store that stops at the first condition an account fails reads no further ones.
 */
const hasAccounts = (shops: ReadonlyArray<{ readonly accounts: number }>): boolean =>
  shops.some(({ accounts }) => accounts > 0)
const isChanged = ({ changed }: { readonly changed: boolean }): boolean => changed

const list: Conditions = {
  watched: ([query], watch) => [{ ...query, filter: watch(query.filter, 'filter.') }],
  isAnything: isCounted
}
const change: Conditions = {
  watched: ([change, ...rest], watch) => [watch(change, '', ['expected']), ...rest],
  isAnything: isChanged
}

const conditionsOf = {
  list,
  audit: list,
  items: {
    watched: (
      [id, query],
      watch
    ) => [id, Object.assign(watch(query, '', ['since']), { filter: watch(query.filter, 'filter.') })],
    isAnything: isCounted
  },
  scan: { watched: ([page], watch) => [{ ...page, only: watch(page.only, 'only.') }], isAnything: isFound },
  shops: { watched: ([shopId, only = {}], watch) => [shopId, watch(only, 'only.')], isAnything: hasAccounts },
  link: change,
  unlink: change
} satisfies Readonly<Record<string, Conditions>>

function watching (unread: Set<string>): Watch {
  return (object, path, names) => {
    const copy = {}
    for (const [name, value] of Object.entries(object)) {
      const condition = path + name
      const isCondition = value !== undefined && (names?.includes(name) ?? true)
      if (isCondition) unread.add(condition)
      Object.defineProperty(
        copy,
        name,
        isCondition
          ? {
            enumerable: true,
            configurable: true,
            get () {
              unread.delete(condition)
              return value
            }
          }
          : { enumerable: true, configurable: true, writable: true, value }
      )
    }
    return copy
  }
}

/**
 * The members of records that decide what happens, and their types. Records of a host's own store may have been typed
 * by its driver.
 */
const TYPES: Readonly<Record<string, 'string' | 'boolean' | 'object'>> = {
  id: 'string',
  shopId: 'string',
  accountId: 'string',
  details: 'object',
  changed: 'boolean',
  duplicate: 'boolean',
  changedByRun: 'boolean',
  snapshotKept: 'boolean',
  dryRun: 'boolean',
  cancelRequested: 'boolean',
  webhook: 'boolean'
}
/** Members of results that hold records. */
const HOLDERS = ['account', 'accounts', 'entries', 'runs', 'items'] as const

/**
 * Checks the records that a method of a store returned. Wrong types would be wrong answers: JSON as text reads as an
 * account without a customer, a number as id equals no id, and MySQL's `BIT(1)` is true whatever it holds.
 *
 * @throws TypeError
 */
function assertRecords (result: unknown, method: string): void {
  if (Array.isArray(result)) {
    for (const record of result) assertRecords(record, method)
    return
  }
  if (typeof result !== 'object' || result === null) return
  for (const [name, type] of Object.entries(TYPES)) {
    const value = (result as Readonly<Record<string, unknown>>)[name]
    // Of a run, the shop may be null.
    if (value === undefined || kindOf(value) === type || (name === 'shopId' && value === null)) continue
    throw new TypeError(
      `${method} of the store returned a record whose ${name} has the type ${kindOf(value)}, and not ${type}`
    )
  }
  for (const name of HOLDERS) {
    if (name in result) assertRecords((result as Readonly<Record<string, unknown>>)[name], method)
  }
}

function kindOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
