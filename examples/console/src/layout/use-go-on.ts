import { useEffect, useRef } from 'react'
import { useRedirect, useResourceContext } from 'react-admin'
import { useUnsaved } from './ask-before-leaving.tsx'

/** Whether the page is still there, for what an answer that comes late leads to. */
export function useIsHere (): { readonly current: boolean } {
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return isHere
}

/**
 * Leaves a form whose record was saved or deleted, without a question. Who has left by themselves stays where they are.
 */
export function useGoOn (): (to: 'list' | 'edit', id?: string) => void {
  const resource = useResourceContext()
  const redirect = useRedirect()
  const unsaved = useUnsaved()
  const isHere = useIsHere()
  return (to, id) => {
    if (!isHere.current) return
    unsaved.forget()
    redirect(to, resource, id)
  }
}
