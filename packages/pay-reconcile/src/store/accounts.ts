import type { AccountStore, ChangeStore } from '../types.ts'
import { anyFromStore, fromReadingStore, fromStore } from './from-store.ts'

/** The same store, each call of which goes through {@link fromStore}. */
export function guardedAccounts (store: AccountStore): AccountStore {
  return {
    ...(store.ready && { ready: () => anyFromStore(async () => await store.ready?.()) }),
    ...(store.registration !== undefined && { registration: store.registration }),
    ...(store.hasUuids && { hasUuids: () => anyFromStore(async () => await store.hasUuids?.()) }),
    ...(store.deleteExpired && { deleteExpired: () => anyFromStore(async () => await store.deleteExpired?.()) }),
    ...(store.changes && { changes: guardedChanges(store.changes) }),

    list: (query) =>
      fromReadingStore(
        'list',
        (watch) => store.list({ ...query, filter: watch(query.filter, 'filter.') }),
        ({ count }) => count > 0
      ),
    get: (id) => fromStore('get', () => store.get(id)),
    secretKey: (shopId) => anyFromStore(() => store.secretKey(shopId)),
    link: (change, origin) =>
      fromReadingStore(
        'link',
        (watch) => store.link(watch(change, '', ['expected']), origin),
        ({ changed }) => changed
      ),
    unlink: (change, origin) =>
      fromReadingStore(
        'unlink',
        (watch) => store.unlink(watch(change, '', ['expected']), origin),
        ({ changed }) => changed
      ),
    saveSnapshot: (change, origin) => fromStore('saveSnapshot', () => store.saveSnapshot(change, origin)),
    audit: (query) =>
      fromReadingStore(
        'audit',
        (watch) => store.audit({ ...query, filter: watch(query.filter, 'filter.') }),
        ({ count }) => count > 0
      ),
    replacedSnapshot: (auditId) => fromStore('replacedSnapshot', () => store.replacedSnapshot(auditId)),
    shops: (shopId, only = {}) =>
      fromReadingStore(
        'shops',
        (watch) => store.shops(shopId, watch(only, 'only.')),
        // A shop without accounts is no find: a store that stops at the first condition an account fails reads no
        // further ones.
        (shops) => shops.some(({ accounts }) => accounts > 0)
      ),
    scan: (page) =>
      fromReadingStore(
        'scan',
        (watch) => store.scan({ ...page, only: watch(page.only, 'only.') }),
        ({ length }) => length > 0
      ),
    accountsLike: (shopId, ids, emails) => fromStore('accountsLike', () => store.accountsLike(shopId, ids, emails)),
    linkedCustomers: (shopId, customerIds) => anyFromStore(() => store.linkedCustomers(shopId, customerIds)),
    linkedElsewhere: (shopId, customerIds) =>
      fromStore('linkedElsewhere', () => store.linkedElsewhere(shopId, customerIds))
  }
}

function guardedChanges (store: ChangeStore): ChangeStore {
  return {
    position: (shopId) => anyFromStore(() => store.position(shopId)),
    moveTo: (shopId, position) => anyFromStore(() => store.moveTo(shopId, position)),
    note: (shopId, events) => anyFromStore(() => store.note(shopId, events)),
    noteAll: (shopId) => anyFromStore(() => store.noteAll(shopId)),
    moment: () => anyFromStore(() => store.moment()),
    done: (accountIds, moment) => anyFromStore(() => store.done(accountIds, moment))
  }
}
