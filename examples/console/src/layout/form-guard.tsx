import { type ReactNode, useContext, useEffect } from 'react'
import { useRecordContext } from 'react-admin'
import { useFormContext, useFormState } from 'react-hook-form'
import type { Versioned } from '../api/save.ts'
import { AskBeforeLeaving } from './ask-before-leaving.tsx'
import { SendingContext, typedSince } from './sending.ts'

/**
 * The fields of each form: what was typed is not lost without a question, and after it was refused, the first wrong
 * field has the focus, unless somebody goes on typing.
 */
export function FormGuard ({ children }: { readonly children: ReactNode }) {
  const form = useFormContext()
  const { isSubmitting, errors, dirtyFields } = useFormState()
  const sending = useContext(SendingContext)
  const record = useRecordContext()
  const isTyped = Object.keys(dirtyFields).length > 0
  useEffect(() => {
    // Later the form may show a newer record, whose changes nobody has looked at.
    sending.before = isTyped ? record as Versioned | undefined : undefined
  }, [isTyped])
  useEffect(() => {
    sending.form = form
    return () => {
      sending.form = undefined
    }
  }, [form])
  useEffect(() => {
    if (isSubmitting) return
    if (Object.keys(errors).length > 0 && Object.keys(typedSince(sending)).length === 0) {
      document.querySelector<HTMLElement>('form [aria-invalid=true]')?.focus()
    }
    sending.sent = undefined
  }, [isSubmitting])
  return (
    <>
      {isTyped && <AskBeforeLeaving />}
      {children}
    </>
  )
}
