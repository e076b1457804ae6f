import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

/**
 * Reads again what the end of an import changes: products, their history, the lines.
 *
 * @param isBusy - whether one is unfinished
 * @returns whether one has ended while the page was open
 */
export function useImportEnd (isBusy: boolean): boolean {
  const queryClient = useQueryClient()
  const wasBusy = useRef(isBusy)
  const [hasEnded, setEnded] = useState(false)
  useEffect(() => {
    if (wasBusy.current && !isBusy) {
      setEnded(true)
      queryClient.invalidateQueries()
    }
    wasBusy.current = isBusy
  }, [isBusy, queryClient])
  return hasEnded
}
