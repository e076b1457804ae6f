import { networksOf, type KeyRow } from './key-row.ts'
import { KNOWN_NETWORKS, type NotableUse } from './store.ts'

/** What a use of a key changes in its row, if that is still the same. */
export interface UsedRow extends Omit<NotableUse, 'key'> {
  readonly was: Partial<KeyRow>
  readonly changes: Partial<KeyRow>
}

/**
 * @param networks - the latest last
 * @returns null if the use is not worth a write, or the key is revoked
 */
export function usedRow (row: KeyRow, networks: readonly string[], at: Date, unlessAfter: Date): UsedRow | null {
  const { lastUsedAt, lastUsedNetwork, revokedAt } = row
  const known = networksOf(row)
  const unknown = networks.filter((network) => !known.includes(network))
  if (revokedAt !== null || (lastUsedAt !== null && lastUsedAt >= +unlessAfter && unknown.length === 0)) return null
  return {
    was: { lastUsedAt, networks: row.networks, revokedAt },
    changes: {
      lastUsedAt: +at,
      lastUsedNetwork: networks.at(-1) ?? lastUsedNetwork,
      networks: JSON.stringify([...unknown, ...known].slice(0, KNOWN_NETWORKS))
    },
    isFirst: lastUsedAt === null,
    newNetworks: known.length > 0 ? unknown : []
  }
}
