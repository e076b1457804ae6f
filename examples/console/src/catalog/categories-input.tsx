import { Autocomplete, Chip, TextField } from '@mui/material'
import { FieldTitle, InputHelperText, useInput } from 'react-admin'
import { pathsOf } from './tree.ts'
import { useCategories } from './use-catalog.ts'

/** Categories of a product, by their paths. */
export function CategoriesInput ({ source }: { readonly source: string }) {
  const { field, fieldState: { error, invalid } } = useInput({ source, defaultValue: [] })
  const { data, isPending } = useCategories()
  const paths = pathsOf(data?.rows ?? [])
  const value = (field.value ?? []) as readonly string[]
  const byId = new Map(paths.map((choice) => [choice.id, choice]))
  return (
    <Autocomplete
      multiple
      disableCloseOnSelect
      loading={isPending}
      options={paths}
      filterSelectedOptions
      value={value.map((id) => byId.get(id) ?? { id, path: '…', depth: 0 })}
      onChange={(_event, chosen) => field.onChange(chosen.map(({ id }) => id))}
      onBlur={() => field.onBlur()}
      getOptionLabel={({ path }) => path}
      getOptionKey={({ id }) => id}
      isOptionEqualToValue={(one, two) => one.id === two.id}
      renderValue={(chosen, getItemProps) =>
        chosen.map(({ path }, index) => {
          const { key, ...props } = getItemProps({ index })
          return <Chip key={key} size='small' label={path} {...props} />
        })}
      renderInput={(params) => (
        <TextField
          {...params}
          inputRef={field.ref}
          label={<FieldTitle source={source} />}
          error={invalid}
          helperText={<InputHelperText error={messageIn(error)} />}
        />
      )}
    />
  )
}

/** The first message in the error of a field that is a list: `{ 2: { message } }` for its third item. */
export function messageIn (error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('message' in error && typeof error.message === 'string') return error.message
  return Object.entries(error).filter(([name]) => name !== 'ref').map(([, inner]) => messageIn(inner)).find((message) =>
    message !== undefined
  )
}
