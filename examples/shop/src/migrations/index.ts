import { shops } from './001-shops.ts'
import { usage } from './002-usage.ts'
import { catalog } from './003-catalog.ts'
import { search } from './004-search.ts'
import { accounts } from './005-accounts.ts'
import { apiKeys } from './006-api-keys.ts'
import { toolCalls } from './007-tool-calls.ts'
import { history } from './008-history.ts'
import { imports } from './009-imports.ts'
import { signIn } from './010-sign-in.ts'
import { payRegistrations } from './011-pay-registrations.ts'
import { recordBytes } from './012-record-bytes.ts'
import { idempotencyKeys } from './013-idempotency-keys.ts'
import { historyIndexes } from './014-history-indexes.ts'
import { deletedShops } from './015-deleted-shops.ts'
import { importSources } from './016-import-sources.ts'
import { keyDurations } from './017-key-durations.ts'
import { listOrders } from './018-list-orders.ts'
import { accountSearch } from './019-account-search.ts'
import { subscribers } from './020-subscribers.ts'
import type { Migration } from './migration.ts'

/**
 * Migrations by name, in the order in which they run. A name starts with a number, and those of later ones are higher.
 */
export type Migrations = Readonly<Record<string, Migration>>

/** Every migration. One that was released never changes. */
export const migrations: Migrations = {
  '001-shops': shops,
  '002-usage': usage,
  '003-catalog': catalog,
  '004-search': search,
  '005-accounts': accounts,
  '006-api-keys': apiKeys,
  '007-tool-calls': toolCalls,
  '008-history': history,
  '009-imports': imports,
  '010-sign-in': signIn,
  '011-pay-registrations': payRegistrations,
  '012-record-bytes': recordBytes,
  '013-idempotency-keys': idempotencyKeys,
  '014-history-indexes': historyIndexes,
  '015-deleted-shops': deletedShops,
  '016-import-sources': importSources,
  '017-key-durations': keyDurations,
  '018-list-orders': listOrders,
  '019-account-search': accountSearch,
  '020-subscribers': subscribers
}
