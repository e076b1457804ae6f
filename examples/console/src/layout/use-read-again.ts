import { useQueryClient } from '@tanstack/react-query'
import { ApiError, mayBeDone } from '../api/problem.ts'

/** The answers that say that the page shows what is not so any more. */
const OUTDATED: readonly number[] = [404, 409, 412]

/**
 * Reads the page again after it was refused what others had made impossible, or may have done what failed. Open forms
 * keep the record that they were opened with.
 */
export function useReadAgain (): (error: unknown) => void {
  const queryClient = useQueryClient()
  return (error) => {
    if (!mayBeDone(error) && !(error instanceof ApiError && OUTDATED.includes(error.status))) return
    queryClient.invalidateQueries({
      predicate: ({ observers }) => observers.every(({ options }) => options.refetchOnWindowFocus !== false)
    })
  }
}
