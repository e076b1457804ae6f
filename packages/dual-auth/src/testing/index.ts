import type { ApiKeyStore } from '../keys/store.ts'
import { newKey, OLDEST_FIRST, START, type Check, type Use } from './check.ts'
import { LIMITS } from './limits.ts'
import { LISTS } from './lists.ts'
import { LIVES } from './lives.ts'
import { USES } from './uses.ts'
import { VALUES } from './values.ts'

export type { ApiKeyStore } from '../keys/store.ts'

/** Registers one test: `test` of node:test or vitest, or `(title, check) => t.test(title, check)` of tap. */
export type RegisterTest = (title: string, check: () => Promise<void>) => unknown

const CHECKS: readonly Check[] = [...VALUES, ...LIMITS, ...LISTS, ...LIVES, ...USES]

/**
 * Registers a test for each thing that a store of API keys must do, races included. One that fails says what to mend.
 * Run it on an empty table of a test database: notices are taken from whatever keys there are.
 *
 * @param store - the store; or several that share a table, as replicas do, so that races meet in the database
 */
export function testStore (test: RegisterTest, store: ApiKeyStore | readonly ApiKeyStore[]): void {
  const stores = [store].flat() as ApiKeyStore[]
  const [first] = stores
  if (first === undefined) throw new TypeError('testStore needs a store')
  const use: Use = {
    store: first,
    replica: (n) => stores[n % stores.length]!,
    async inserted (change = {}) {
      const key = newKey(change)
      if (await first.insert(key, 100) !== true) {
        throw new Error('insert did not return true for a key of an owner who has fewer than 100')
      }
      return key
    },
    listed: async (ownerId, query = {}) =>
      first.list(ownerId, { at: START, skip: 0, limit: 100, filter: {}, sort: OLDEST_FIRST, ...query })
  }
  for (const { title, mend, run } of CHECKS) {
    test(title, async () => {
      try {
        await run(use)
      } catch (error) {
        throw new Error(
          `The store must do this: ${title}. ${mend} Found: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error }
        )
      }
    })
  }
}
