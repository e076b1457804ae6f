import type { DataProvider } from 'react-admin'
import { changesOf } from './changes.ts'
import { type Call, listUrl, rangeFrom } from './http.ts'
import { ifMatch, saveChanges, type Settle, type Versioned } from './save.ts'

/** Most ids that a filter may have. */
const MOST_IDS = 100

/** Fields that the server sets. */
const SERVER_FIELDS = ['id', 'shop_id', 'created_at', 'updated_at']

/**
 * react-admin's data provider for the lists of the server.
 *
 * @param root - of all resources: `/shops/<id>`, or an empty string
 * @param call - calls the server
 * @param settle - asks about what others have changed meanwhile
 */
export function dataProviderFor (root: string, call: Call, settle: Settle): DataProvider {
  const pathOf = (resource: string, id: unknown): string => `${root}/${resource}/${encodeURIComponent(String(id))}`

  return {
    async getList (resource, { pagination: { page, perPage } = { page: 1, perPage: 25 }, sort, filter, signal }) {
      const order = sort === undefined ? undefined : `${sort.order === 'DESC' ? '-' : ''}${sort.field}`
      const wanted = { skip: (page - 1) * perPage, limit: perPage, filter, sort: order, signal }
      return await listInParts(call, `${root}/${resource}`, wanted)
    },

    async getOne (resource, { id, signal }) {
      return { data: (await call(pathOf(resource, id), signalled(signal))).json }
    },

    async getMany (resource, { ids, signal }) {
      const unique = [...new Set(ids)]
      const parts = Array.from(
        { length: Math.ceil(unique.length / MOST_IDS) },
        (_, n) => unique.slice(n * MOST_IDS, (n + 1) * MOST_IDS)
      )
      const pages = await Promise.all(parts.map(async (part) => {
        const wanted = { skip: 0, limit: part.length, filter: { id: part }, signal }
        return await listInParts(call, `${root}/${resource}`, wanted)
      }))
      return { data: pages.flatMap(({ data }) => data) }
    },

    async getManyReference (resource, { target, id, filter, ...params }) {
      return await this.getList(resource, { ...params, filter: { ...filter, [target]: id } })
    },

    async create (resource, { data }) {
      return { data: (await call(`${root}/${resource}`, { method: 'POST', data })).json }
    },

    // A form may show a newer record than the one that its changes began with.
    async update (resource, { id, data, previousData, meta: { shown = previousData } = {} }) {
      const changes = changesOf(shown ?? {}, data)
      for (const name of SERVER_FIELDS) delete changes[name]
      if (Object.keys(changes).length === 0) return { data: shown }
      return { data: await saveChanges(call, pathOf(resource, id), previousData, changes, settle) }
    },

    async delete (resource, { id, previousData }) {
      await call(pathOf(resource, id), { method: 'DELETE', headers: ifMatch(previousData as Versioned) })
      return { data: previousData }
    }
  } as DataProvider
}

function signalled (signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

interface Wanted {
  readonly skip: number
  readonly limit: number
  readonly filter: object
  readonly sort?: string | undefined
  readonly signal: AbortSignal | undefined
}

/** Reads a page; in several requests if its records are so large that the server ends it early. */
async function listInParts (call: Call, path: string, wanted: Wanted): Promise<{ data: any[], total: number }> {
  const { skip: start, limit, filter, sort, signal } = wanted
  const data: any[] = []
  for (let skip = start;;) {
    const url = listUrl(path, { skip, limit: limit - data.length, filter, ...sort !== undefined && { sort } })
    const { headers, json } = await call<any[]>(url, signalled(signal))
    const { next, total } = rangeFrom(headers)
    data.push(...json)
    if (data.length >= limit || next >= total || next <= skip) return { data, total }
    skip = next
  }
}
