import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'

interface Entry {
  payload: AdapterPayload
  readonly expires: number
}

/**
 * What a refresh token needs. It outlives a restart, as at a real provider; sessions and sign-ins in progress do not.
 */
const LASTING = /^(?:RefreshToken|Grant):/

/** Keeps sessions, codes and refresh tokens, the last in `dataDir` if there is one, readable by its owner only. */
export function adapterIn (dataDir?: string): AdapterFactory {
  const file = dataDir === undefined ? undefined : join(dataDir, 'demo-sign-ins.json')
  const entries = new Map<string, Entry>(
    file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  )

  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry && entry.expires > Date.now()) return entry
    entries.delete(key)
    return undefined
  }
  const first = (matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
    [...entries].find(([key, { payload }]) => matches(payload) && live(key))?.[1].payload

  function saved (...keys: readonly string[]): void {
    if (dataDir === undefined || file === undefined || !keys.some((key) => LASTING.test(key))) return
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    writeFileSync(file, JSON.stringify([...entries].filter(([key]) => LASTING.test(key))), { mode: 0o600 })
  }

  return (model: string): Adapter => ({
    async upsert (id, payload, expiresIn) {
      for (const key of entries.keys()) live(key)
      // JSON has no Infinity, and nothing that lasts is without an end
      entries.set(`${model}:${id}`, { payload, expires: expiresIn ? Date.now() + expiresIn * 1000 : Infinity })
      saved(`${model}:${id}`)
    },
    find: async (id) => live(`${model}:${id}`)?.payload,
    findByUid: async (uid) => first((payload) => payload.kind === model && payload.uid === uid),
    findByUserCode: async (userCode) => first((payload) => payload.userCode === userCode),
    async consume (id) {
      const entry = live(`${model}:${id}`)
      if (entry) entry.payload = { ...entry.payload, consumed: Math.floor(Date.now() / 1000) }
      saved(`${model}:${id}`)
    },
    async destroy (id) {
      entries.delete(`${model}:${id}`)
      saved(`${model}:${id}`)
    },
    async revokeByGrantId (grantId) {
      const revoked = [...entries].filter(([, { payload }]) => payload.grantId === grantId).map(([key]) => key)
      for (const key of revoked) entries.delete(key)
      saved(...revoked)
    }
  })
}
