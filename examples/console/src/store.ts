import { localStorageStore, memoryStore } from 'react-admin'

/** What belongs to the records of one workspace: filters, sorting and pages of lists. */
const OF_RECORDS = /\.listParams$/

/** What ends with the window: nobody sees here what was selected elsewhere or long ago. */
const OF_WINDOW = /\.selection$/

/**
 * Preferences, such as columns and the theme, are the same in all workspaces. A list of one shop says nothing of
 * another.
 */
export function storeFor (root: string): ReturnType<typeof localStorageStore> {
  const lasting = localStorageStore('1', 'shop-console')
  const ofWindow = memoryStore()
  const placeOf = (key: string): readonly [store: typeof lasting, key: string] =>
    OF_WINDOW.test(key) ? [ofWindow, key] : [lasting, OF_RECORDS.test(key) ? `${root}.${key}` : key]
  const at = <Result>(key: string, use: (store: typeof lasting, key: string) => Result): Result => use(...placeOf(key))
  return {
    ...lasting,
    setup: () => {
      lasting.setup()
      ofWindow.setup()
    },
    teardown: () => {
      lasting.teardown()
      ofWindow.teardown()
    },
    getItem: (key, fallback) => at(key, (store, key) => store.getItem(key, fallback)),
    setItem: (key, value) => at(key, (store, key) => store.setItem(key, value)),
    removeItem: (key) => at(key, (store, key) => store.removeItem(key)),
    subscribe: (key, callback) => at(key, (store, key) => store.subscribe(key, callback))
  }
}
