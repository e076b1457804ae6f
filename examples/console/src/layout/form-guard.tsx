import { useEffect } from 'react'
import { useFormState } from 'react-hook-form'
import { AskBeforeLeaving } from './ask-before-leaving.tsx'

/** In each form: what was typed is not lost without a question, and after it was refused, the first wrong field has the focus. */
export function FormGuard () {
  const { isSubmitting, errors, dirtyFields } = useFormState()
  useEffect(() => { if (!isSubmitting && Object.keys(errors).length > 0) document.querySelector<HTMLElement>('form [aria-invalid=true]')?.focus() }, [isSubmitting])
  return Object.keys(dirtyFields).length > 0 && <AskBeforeLeaving />
}
