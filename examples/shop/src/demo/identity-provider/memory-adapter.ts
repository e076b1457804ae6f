import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'

interface Entry { payload: AdapterPayload, readonly expires: number }

/** Sessions, codes and refresh tokens in memory: a restart asks everybody to sign in again. */
export function memoryAdapter (): AdapterFactory {
  const entries = new Map<string, Entry>()

  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry && entry.expires > Date.now()) return entry
    entries.delete(key)
    return undefined
  }
  const first = (matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
    [...entries].find(([key, { payload }]) => matches(payload) && live(key))?.[1].payload

  return (model: string): Adapter => ({
    async upsert (id, payload, expiresIn) {
      for (const key of entries.keys()) live(key)
      entries.set(`${model}:${id}`, { payload, expires: expiresIn ? Date.now() + expiresIn * 1000 : Infinity })
    },
    find: async id => live(`${model}:${id}`)?.payload,
    findByUid: async uid => first(payload => payload.kind === model && payload.uid === uid),
    findByUserCode: async userCode => first(payload => payload.userCode === userCode),
    async consume (id) {
      const entry = live(`${model}:${id}`)
      if (entry) entry.payload = { ...entry.payload, consumed: Math.floor(Date.now() / 1000) }
    },
    async destroy (id) {
      entries.delete(`${model}:${id}`)
    },
    async revokeByGrantId (grantId) {
      for (const [key, { payload }] of entries) if (payload.grantId === grantId) entries.delete(key)
    }
  })
}
