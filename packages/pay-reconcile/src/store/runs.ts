import type { AwaitedShops, RunStore } from '../reconcile/types.ts'
import { anyFromStore, fromReadingStore, fromStore } from './from-store.ts'

/** The same store, each call of which goes through {@link fromStore}. */
export function guardedRuns (store: RunStore): RunStore {
  return {
    ...(store.ready && { ready: () => anyFromStore(async () => await store.ready?.()) }),
    ...(store.registration !== undefined && { registration: store.registration }),
    ...(store.deleteExpired && { deleteExpired: () => anyFromStore(async () => await store.deleteExpired?.()) }),
    ...(store.awaited && { awaited: guardedAwaited(store.awaited) }),

    start: (run, shops, targets) => anyFromStore(() => store.start(run, shops, targets)),
    lastScheduled: (mode, now) => anyFromStore(() => store.lastScheduled(mode, now)),
    startScheduled: (run, shops) => anyFromStore(() => store.startScheduled(run, shops)),
    // A map by the ids of accounts, whatever those are: no record.
    targets: (id) => anyFromStore(() => store.targets(id)),
    get: (id) => fromStore('get', () => store.get(id)),
    list: (query) =>
      fromReadingStore(
        'list',
        (watch) => store.list({ ...query, filter: watch(query.filter, 'filter.') }),
        ({ count }) => count > 0
      ),
    items: (id, query) =>
      fromReadingStore(
        'items',
        (watch) => store.items(id, watch({ ...query, filter: watch(query.filter, 'filter.') }, '', ['since'])),
        ({ count }) => count > 0
      ),
    itemsById: (ids) => fromStore('itemsById', () => store.itemsById(ids)),
    cancel: (id) => anyFromStore(() => store.cancel(id)),
    claim: (id, lease) => fromStore('claim', () => store.claim(id, lease)),
    renew: (part, lease) => anyFromStore(() => store.renew(part, lease)),
    advance: (part, items, lease) => anyFromStore(() => store.advance(part, items, lease)),
    finish: (...ended) => anyFromStore(() => store.finish(...ended)),
    release: (part, lease) => anyFromStore(() => store.release(part, lease)),
    claimable: () => anyFromStore(() => store.claimable())
  }
}

function guardedAwaited (store: AwaitedShops): AwaitedShops {
  return {
    note: (shopId, deliveryId) => anyFromStore(() => store.note(shopId, deliveryId)),
    start: (run) => anyFromStore(() => store.start(run)),
    done: (runId, shopId) => anyFromStore(() => store.done(runId, shopId))
  }
}
