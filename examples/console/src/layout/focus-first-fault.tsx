import { useEffect } from 'react'
import { useFormState } from 'react-hook-form'

/** In a form: after it was refused, the first wrong field has the focus. */
export function FocusFirstFault () {
  const { isSubmitting, errors } = useFormState()
  useEffect(() => { if (!isSubmitting && Object.keys(errors).length > 0) document.querySelector<HTMLElement>('form [aria-invalid=true]')?.focus() }, [isSubmitting])
  return null
}
