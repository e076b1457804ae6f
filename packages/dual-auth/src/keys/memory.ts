import { inLowerCase, spellingsOf } from './key-name.ts'
import { noticesFor, type NoticeState } from './memory-notices.ts'
import { KNOWN_NETWORKS, recordFromNewKey, statusOfKey, type ApiKeyRecord, type ApiKeyStore, type KeyField, type KeyFilter, type KeyNotice, type KeyQuery, type NewApiKey, type NotableUse, type StoredApiKey } from './store.ts'

interface Row extends NewApiKey, ApiKeyRecord, NoticeState {
  readonly revokedBy: string | null
  /** Those that it was used from, newest first. */
  readonly networks: readonly string[]
}

/** A store that loses everything when the process ends: for first steps and for tests. */
export function memoryStore (): ApiKeyStore {
  const rows = new Map<string, Row>()

  let last: Promise<unknown> = Promise.resolve()

  /** Changes run one after another, as under a lock: while the host's function runs for one, no other may build on it. */
  function inTurn<T> (change: () => Promise<T>): Promise<T> {
    const result = last.then(change)
    last = result.catch(() => {})
    return result
  }

  /** Restores the old rows if `then` rejects. */
  async function replace (changed: readonly Row[], then: () => Promise<void> | undefined): Promise<void> {
    const before = changed.map(({ id }) => [id, rows.get(id)] as const)
    for (const row of changed) rows.set(row.id, row)
    try {
      await then()
    } catch (error) {
      for (const [id, row] of before) {
        if (row === undefined) rows.delete(id)
        else rows.set(id, row)
      }
      throw error
    }
  }

  function workingIn (shopId: string, at: Date): Row[] {
    return [...rows.values()].filter(row => row.shopId === shopId && statusOfKey(row, at) === 'active')
  }

  function lastSuccessor (key: Row, at: Date): Row | undefined {
    const line: Row[] = []
    for (let next = rows.get(key.replacedBy ?? ''); next !== undefined; next = rows.get(next.replacedBy ?? '')) line.push(next)
    return line.findLast(row => statusOfKey(row, at) === 'active') ?? line.at(-1)
  }

  return {
    async find (fingerprints): Promise<StoredApiKey | null> {
      return [...rows.values()].find(row => fingerprints.some(wanted => wanted.equals(row.fingerprint))) ?? null
    },
    insert: async (key, limit, onStored) => inTurn(async () => {
      const working = workingIn(key.shopId, key.createdAt)
      if (working.length >= 2 * limit || working.filter(({ replacedBy }) => replacedBy === null).length >= limit) return false
      await replace([rowFromNewKey(key)], () => onStored?.(recordFromNewKey(key), undefined))
      return true
    }),
    async list (shopId, { at, skip, limit, filter, sort }) {
      const ofShop = [...rows.values()].filter(row => row.shopId === shopId)
      const found = ofShop.filter(row => matches(row, filter, at)).sort(comparatorFromSort(sort, at))
      const counts = { active: 0, expired: 0, revoked: 0 }
      for (const row of ofShop) counts[statusOfKey(row, at)]++
      return { keys: found.slice(skip, skip + limit).map(recordFromRow), count: found.length, counts }
    },
    revoke: async (shopId, id, by, at, onStored) => inTurn(async () => {
      const row = rows.get(id)
      if (row?.shopId !== shopId) return false
      if (row.revokedAt !== null) return true
      const revoked = { ...row, revokedAt: at, revokedBy: by }
      await replace([revoked], () => onStored?.(recordFromRow(revoked), undefined))
      return true
    }),
    rotate: async (shopId, id, at, plan, onRotated) => inTurn(async () => {
      const row = rows.get(id)
      if (row?.shopId !== shopId) return null
      const successor = lastSuccessor(row, at)
      const { successor: next, expiresAt, revokedAt } = plan({
        key: recordFromRow(row), successor: successor === undefined ? null : recordFromRow(successor), working: workingIn(shopId, at).length
      })
      const replaced = { ...row, replacedBy: next.id, expiresAt, revokedAt, revokedBy: revokedAt === null ? null : next.createdBy }
      const rotated = { key: recordFromNewKey(next, id), replaced: recordFromRow(replaced) }
      await replace([{ ...rowFromNewKey(next, id), networks: row.networks }, replaced], () => onRotated?.(rotated, undefined))
      return rotated
    }),
    async rehash (id, previous, next) {
      const row = rows.get(id)
      if (row?.hash.equals(previous) === true) rows.set(id, { ...row, ...next })
    },
    async touch (uses, at, unlessAfter) {
      const notable: NotableUse[] = []
      for (const { id, networks } of uses) {
        const row = rows.get(id)
        if (row === undefined || row.revokedAt !== null) continue
        const unknown = networks.filter(network => !row.networks.includes(network))
        if (row.lastUsedAt !== null && row.lastUsedAt >= unlessAfter && unknown.length === 0) continue
        const used = { ...row, lastUsedAt: at, lastUsedNetwork: networks.at(-1) ?? row.lastUsedNetwork, networks: [...unknown, ...row.networks].slice(0, KNOWN_NETWORKS) }
        rows.set(id, used)
        const use = { key: recordFromRow(used), isFirst: row.lastUsedAt === null, newNetworks: row.networks.length > 0 ? unknown : [] }
        if (use.isFirst || use.newNetworks.length > 0) notable.push(use)
      }
      return notable
    },
    async takeNotices (at, limit) {
      const notices: KeyNotice[] = []
      for (const row of rows.values()) {
        for (const { type, days, given } of noticesFor(row, row, at)) {
          if (notices.filter(notice => notice.type === type).length >= limit) continue
          rows.set(row.id, { ...rows.get(row.id)!, ...given })
          notices.push({ type, days, key: recordFromRow(row) })
        }
      }
      return notices
    }
  }
}

function rowFromNewKey (key: NewApiKey, replaces: string | null = null): Row {
  return { ...key, ...recordFromNewKey(key, replaces), revokedBy: null, networks: [], expiryNotice: null, unusedNoticeAt: null }
}

const valueOf: Readonly<Record<KeyField, (row: Row) => string | null>> = {
  id: row => row.id,
  name: row => row.name,
  prefix: row => row.prefix,
  created_at: row => row.createdAt.toISOString(),
  created_by: row => row.createdBy,
  last_used_at: row => row.lastUsedAt?.toISOString() ?? null,
  last_used_network: row => row.lastUsedNetwork,
  expires_at: row => row.expiresAt?.toISOString() ?? null,
  revoked_at: row => row.revokedAt?.toISOString() ?? null,
  replaces: row => row.replaces,
  replaced_by: row => row.replacedBy
}

function matches (row: Row, { q, revoked, status, scopes, ...fields }: KeyFilter, at: Date): boolean {
  const parts = spellingsOf(q ?? '').map(inLowerCase)
  return [row.name, row.prefix].some(text => parts.some(part => inLowerCase(text).includes(part))) &&
    (revoked === undefined || revoked === (row.revokedAt !== null)) &&
    (status === undefined || status === statusOfKey(row, at)) &&
    (scopes === undefined || scopes.some(scope => row.scopes.includes(scope))) &&
    Object.entries(fields).every(([field, values]) => values.includes(valueOf[field as KeyField](row)))
}

function comparatorFromSort (sort: KeyQuery['sort'], at: Date): (a: Row, b: Row) => number {
  if (sort === null) return (a, b) => Number(statusOfKey(a, at) !== 'active') - Number(statusOfKey(b, at) !== 'active') || +b.createdAt - +a.createdAt || compare(b.id, a.id)
  const value = valueOf[sort.field]
  const ascending = (a: Row, b: Row): number => compare(value(a) ?? '', value(b) ?? '') || compare(a.id, b.id)
  return (a, b) => Number(value(a) === null) - Number(value(b) === null) || (sort.descending ? ascending(b, a) : ascending(a, b))
}

function compare (a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function recordFromRow (row: Row): ApiKeyRecord {
  const { id, shopId, name, prefix, scopes, createdAt, createdBy, lastUsedAt, lastUsedNetwork, expiresAt, revokedAt, replaces, replacedBy } = row
  return { id, shopId, name, prefix, scopes, createdAt, createdBy, lastUsedAt, lastUsedNetwork, expiresAt, revokedAt, replaces, replacedBy }
}
