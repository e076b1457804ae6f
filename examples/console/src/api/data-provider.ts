import simpleRestProvider from 'ra-data-simple-rest'
import type { DataProvider } from 'react-admin'
import { changesOf } from './changes.ts'
import { type Call, listUrl, rangeFrom } from './http.ts'
import { ApiError } from './problem.ts'
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
  const simple = simpleRestProvider(root, call as never)

  return {
    ...simple,

    async getList (resource, params) {
      try {
        return await simple.getList(resource, params)
      } catch (error) {
        // Records so large that a page of them is not sent at once.
        if (!(error instanceof ApiError) || error.problem.field !== 'range') throw error
        return await listInParts(call, `${root}/${resource}`, params)
      }
    },

    async getMany (resource, { ids, signal }) {
      const unique = [...new Set(ids)]
      const parts = Array.from({ length: Math.ceil(unique.length / MOST_IDS) }, (_, n) => unique.slice(n * MOST_IDS, (n + 1) * MOST_IDS))
      const pages = await Promise.all(parts.map(async (part) => await simple.getMany(resource, { ids: part, signal })))
      return { data: pages.flatMap(({ data }) => data) }
    },

    async getManyReference (resource, { target, id, filter, ...params }) {
      return await this.getList(resource, { ...params, filter: { ...filter, [target]: id } })
    },

    async create (resource, { data }) {
      return { data: (await call(`${root}/${resource}`, { method: 'POST', data })).json }
    },

    async update (resource, { id, data, previousData }) {
      const changes = changesOf(previousData ?? {}, data)
      for (const name of SERVER_FIELDS) delete changes[name]
      return { data: Object.keys(changes).length === 0 ? previousData : await saveChanges(call, `${root}/${resource}/${encodeURIComponent(String(id))}`, previousData, changes, settle) }
    },

    async delete (resource, { id, previousData }) {
      await call(`${root}/${resource}/${encodeURIComponent(String(id))}`, { method: 'DELETE', headers: ifMatch(previousData as Versioned) })
      return { data: previousData }
    }
  } as DataProvider
}

async function listInParts (call: Call, path: string, { pagination, sort, filter }: Parameters<DataProvider['getList']>[1]): Promise<{ data: any[], total: number }> {
  const { page = 1, perPage = 25 } = pagination ?? {}
  const order = sort === undefined ? undefined : `${sort.order === 'DESC' ? '-' : ''}${sort.field}`
  const data: any[] = []
  for (let skip = (page - 1) * perPage; ;) {
    const { headers, json } = await call<any[]>(listUrl(path, { skip, limit: perPage - data.length, filter, sort: order }))
    const { next, total } = rangeFrom(headers)
    data.push(...json)
    if (data.length >= perPage || next >= total || next <= skip) return { data, total }
    skip = next
  }
}
