import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useAnnounce } from '../layout/announcements.tsx'
import { texts } from '../texts.ts'
import { becameText, fileNameOf, type Import, isUnfinished } from './import.ts'

/**
 * Says that imports have ended, and reads again what that changes: products, their history, the lines.
 *
 * @param imports - those of the page
 */
export function useImportEnd (imports: readonly Import[]): void {
  const queryClient = useQueryClient()
  const announce = useAnnounce()
  const unfinished = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const ended = imports.filter((item) => unfinished.current.has(item.id) && !isUnfinished(item))
    unfinished.current = new Set(imports.filter(isUnfinished).map(({ id }) => id))
    if (ended.length === 0) return
    announce(
      ended.map((item) => texts.imports.ended(fileNameOf(item), texts.imports.states[item.status], becameText(item)))
        .join(' ')
    )
    queryClient.invalidateQueries()
  }, [imports, queryClient, announce])
}
