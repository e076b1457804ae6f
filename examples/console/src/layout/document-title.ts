import { useEffect } from 'react'
import { isolated } from '../isolated.ts'
import { texts } from '../texts.ts'

/** Names the window: `Products · Copper Kettle · Shop console`. Empty names are left out. */
export function useDocumentTitle (...names: readonly string[]): void {
  const title = [...names, texts.product].filter((name) => name !== '').map(isolated).join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
