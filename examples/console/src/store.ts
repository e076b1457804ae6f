import { localStorageStore } from 'react-admin'

/** What belongs to the records of one workspace: filters, sorting and pages of lists, and selected rows. */
const OF_RECORDS = /\.(?:listParams|selectedIds)$/

/** Preferences, such as columns and the theme, are the same in all workspaces. A list of one shop says nothing of another. */
export function storeFor (root: string): ReturnType<typeof localStorageStore> {
  const store = localStorageStore('1', 'shop-console')
  const keyOf = (key: string): string => OF_RECORDS.test(key) ? `${root}.${key}` : key
  return {
    ...store,
    getItem: (key, fallback) => store.getItem(keyOf(key), fallback),
    setItem: (key, value) => store.setItem(keyOf(key), value),
    removeItem: (key) => store.removeItem(keyOf(key)),
    subscribe: (key, callback) => store.subscribe(keyOf(key), callback)
  }
}
