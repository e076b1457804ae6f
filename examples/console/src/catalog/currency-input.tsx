import { FieldTitle, InputHelperText, useInput } from 'react-admin'
import { currencies } from '../layout/codes.ts'
import { Picker } from '../layout/picker.tsx'

/** The currency of a record: chosen from a list, or typed. */
export function CurrencyInput (
  { source, helperText = false, isRequired = false }: {
    readonly source: string,
    readonly helperText?: string | false,
    readonly isRequired?: boolean
  }
) {
  const { field, fieldState: { error, invalid } } = useInput({
    source,
    ...isRequired && { validate: (value: unknown) => value ? undefined : 'ra.validation.required' }
  })
  return (
    <Picker
      value={field.value ?? ''}
      onChange={(text) => field.onChange(text.toUpperCase())}
      onBlur={() => field.onBlur()}
      choices={currencies()}
      name={source}
      inputRef={field.ref}
      label={<FieldTitle source={source} isRequired={isRequired} />}
      error={invalid}
      helperText={<InputHelperText error={error?.message} helperText={helperText} />}
    />
  )
}
