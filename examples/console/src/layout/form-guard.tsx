import { type ReactNode, useEffect } from 'react'
import { useFormState } from 'react-hook-form'
import { AskBeforeLeaving } from './ask-before-leaving.tsx'
import { SavedAsShown } from './saved-as-shown.tsx'

/**
 * The fields of each form: what was typed is not lost without a question or while it is being saved, and after it was
 * refused, the first wrong field has the focus.
 */
export function FormGuard ({ children }: { readonly children: ReactNode }) {
  const { isSubmitting, errors, dirtyFields } = useFormState()
  useEffect(() => {
    if (!isSubmitting && Object.keys(errors).length > 0) {
      document.querySelector<HTMLElement>('form [aria-invalid=true]')?.focus()
    }
  }, [isSubmitting])
  return (
    <SavedAsShown isBusy={isSubmitting}>
      {Object.keys(dirtyFields).length > 0 && <AskBeforeLeaving />}
      {children}
    </SavedAsShown>
  )
}
