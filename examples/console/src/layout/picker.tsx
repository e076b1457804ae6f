import { Autocomplete, TextField, type TextFieldProps } from '@mui/material'
import type { Choice } from './filter-chips.tsx'

interface PickerProps extends Omit<TextFieldProps, 'value' | 'onChange' | 'onBlur' | 'select'> {
  /** The id of a choice, or what was typed in place of one. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onBlur?: () => void
  /** Found by their ids and names. */
  readonly choices: readonly Choice[]
}

/** A code that is chosen by its name, or typed. The server says whether there is what was typed. */
export function Picker ({ value, onChange, onBlur, choices, disabled = false, sx, ...field }: PickerProps) {
  return (
    <Autocomplete
      freeSolo
      fullWidth
      disabled={disabled}
      options={choices as Choice[]}
      inputValue={value}
      value={value}
      onInputChange={(_event, text) => onChange(text)}
      onBlur={onBlur}
      {...sx !== undefined && { sx }}
      getOptionLabel={(choice) => typeof choice === 'string' ? choice : choice.id}
      getOptionKey={(choice) => typeof choice === 'string' ? choice : choice.id}
      filterOptions={(all, { inputValue }) => found(all, inputValue)}
      isOptionEqualToValue={({ id }, chosen) => id === (chosen as unknown)}
      renderOption={({ key, ...props }, { id, name }) => (
        <li key={key} {...props}>{id === name ? id : `${id} · ${name}`}</li>
      )}
      slotProps={{ popper: { style: { minWidth: 280 }, placement: 'bottom-start' } }}
      renderInput={(params) => (
        <TextField {...field} {...params} slotProps={{ ...params.slotProps, ...field.slotProps }} />
      )}
    />
  )
}

/** Most choices that are shown. */
const MOST = 60

/** All of them while the text is one of the ids: somebody looks for another. */
function found (choices: Choice[], typed: string): Choice[] {
  const words = typed.trim().toLowerCase()
  const isChosen = choices.some(({ id }) => id.toLowerCase() === words)
  return (isChosen
    ? choices
    : choices.filter(({ id, name }) => `${id} ${name}`.toLowerCase().replaceAll('_', ' ').includes(words))).slice(
      0,
      isChosen ? undefined : MOST
    )
}
