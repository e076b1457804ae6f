export { knexAccountStore, type KnexAccountStoreOptions } from './accounts.ts'
export { knexRunStore } from './runs.ts'
export { createAccountIndexes, createPayReconcileTables, dropPayReconcileTables, type AccountTable } from './tables.ts'
