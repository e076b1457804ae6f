import { useQueryClient } from '@tanstack/react-query'
import { Interrupted, inTurn } from '../api/in-turn.ts'
import { ApiError, mayBeDone } from '../api/problem.ts'
import { useSelectLeft } from '../layout/selection.tsx'
import { texts } from '../texts.ts'

/** How many products are changed at once: fewer than the server allows a person. */
const AT_ONCE = 4

/**
 * Changes the selected products one by one. Those that others have deleted meanwhile are left out.
 *
 * @returns a function that says how many it has changed
 * @throws Error that says how many were changed before one failed; the others stay selected
 */
export function useBulk (): (ids: readonly string[], change: (id: string) => Promise<boolean>) => Promise<string> {
  const queryClient = useQueryClient()
  const selectLeft = useSelectLeft()
  return async (ids, change) => {
    let [changed, gone] = [0, 0]
    try {
      await inTurn(ids, AT_ONCE, async (id) => {
        try {
          if (await change(id)) changed += 1
        } catch (error) {
          if (!(error instanceof ApiError && error.status === 404)) throw error
          gone += 1
        }
      })
      selectLeft([])
      return texts.products.bulk.done(changed, gone)
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      const { done, failures, message, cause } = error
      selectLeft(ids.filter((id) => !done.includes(id)))
      const open = failures.filter(mayBeDone).length
      throw new Error(texts.products.bulk.stopped({ changed: done.length - gone, open, count: ids.length }, message), {
        cause
      })
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['products'] })
    }
  }
}
