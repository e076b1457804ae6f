import { useQuery } from '@tanstack/react-query'
import { readAll } from '../api/http.ts'
import { useShop, useViewer } from '../viewer.tsx'
import type { Category } from './tree.ts'

/** Most records of a list that is read as a whole. */
const MOST = 2000

export interface Attribute {
  readonly id: string
  readonly name: string
  readonly code: string
  readonly type: 'text' | 'number' | 'boolean' | 'select'
  readonly unit: string | null
  readonly options: readonly string[]
}

export interface Tag {
  readonly id: string
  readonly name: string
}

/** For how long fields offer what was read, in milliseconds. */
const OFFERED = 30_000

function useWhole<Row> (resource: string, staleTime = OFFERED) {
  const { call } = useViewer()
  const { id } = useShop()
  // Under the name of the resource, so that react-admin's changes make it read again.
  return useQuery({
    queryKey: [resource, 'whole'],
    queryFn: async () => await readAll<Row>(call, `/shops/${id}/${resource}`, {}, MOST),
    staleTime
  })
}

/**
 * All categories of the shop; the first 2000 of them by name.
 *
 * @param staleTime - for how long they are not read again, in milliseconds
 */
export const useCategories = (staleTime?: number) => useWhole<Category>('categories', staleTime)
export const useTags = () => useWhole<Tag>('tags')
export const useAttributes = () => useWhole<Attribute>('attributes')
