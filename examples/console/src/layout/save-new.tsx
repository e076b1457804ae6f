import { SaveButton } from 'react-admin'
import { useFormState } from 'react-hook-form'

/** Saves a new record, also one with nothing but defaults, but not twice while the first time is under way. */
export function SaveNew () {
  const { isSubmitting } = useFormState()
  return <SaveButton alwaysEnable={!isSubmitting} />
}
