export { knexAccountStore, type KnexAccountStoreOptions } from './accounts.ts'
export { forgetAccounts } from './forget.ts'
export { knexRunStore, type KnexRunStoreOptions } from './runs.ts'
export { createAccountIndexes, createPayReconcileTables, dropPayReconcileTables, type AccountTable } from './tables.ts'
