import { useEffect, useRef } from 'react'
import { useNotify, useRedirect, useResourceContext, useTranslate } from 'react-admin'
import { ApiError } from '../api/problem.ts'
import { texts } from '../texts.ts'
import { useUnsaved } from './ask-before-leaving.tsx'
import { useNotifyError } from './use-notify-error.ts'
import { useReadAgain } from './use-read-again.ts'

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

/**
 * Mutation options of a form: once its record is saved, it says so and goes on; else it says why not.
 *
 * @param to - default: it stays
 */
export function useSaved (
  what: 'created' | 'updated',
  to?: 'list' | 'edit'
): { readonly onSuccess: (record: { readonly id: string }) => void, readonly onError: (error: unknown) => void } {
  const resource = useResourceContext()
  const translate = useTranslate()
  const notify = useNotify()
  const notifyError = useNotifyError()
  const goOn = useGoOn()
  const readAgain = useReadAgain()
  return {
    onSuccess: ({ id }) => {
      notify(texts.saved[what](translate(`resources.${resource}.name`, { smart_count: 1 })), { type: 'success' })
      if (to !== undefined) goOn(to, id)
    },
    // What is wrong with a field is said at the field.
    onError: (error) => {
      if (error instanceof ApiError && error.body.errors !== undefined) return
      notifyError(error as Error)
      readAgain(error)
    }
  }
}
