import { useQuery } from '@tanstack/react-query'
import { listUrl } from '../api/http.ts'
import { useViewer } from '../viewer.tsx'
import { whoOf } from './run.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** How many are read at once: a filter may have no more ids. */
const MOST = 100

/**
 * Who the actors of a page are, by name. Only the people of that page are read, however many there are.
 *
 * @param actors - of runs or of changes of accounts: ids of people, and what the server does by itself
 * @returns the name of an actor
 */
export function useActors (actors: readonly string[]): (actor: string) => string {
  const { call } = useViewer()
  const ids = [...new Set(actors)].filter((actor) => UUID.test(actor)).sort().slice(0, MOST)
  const { data } = useQuery({
    queryKey: ['admin/users', 'names', ids],
    enabled: ids.length > 0,
    queryFn: async () => {
      const { json } = await call<ReadonlyArray<{ readonly id: string, readonly name: string | null }>>(
        listUrl('/admin/users', { filter: { id: ids }, limit: MOST })
      )
      return new Map(json.map(({ id, name }) => [id, name]))
    },
    // The names of those that were on the page before, while a new one is read.
    placeholderData: (before) => before
  })
  return (actor) => whoOf(actor, data)
}
