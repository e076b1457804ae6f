import { Autocomplete, Chip, createFilterOptions, TextField } from '@mui/material'
import { FieldTitle, InputHelperText, useCreate, useInput } from 'react-admin'
import { useNotifyError } from '../layout/use-notify-error.tsx'
import { texts } from '../texts.ts'
import { messageIn } from './categories-input.tsx'
import { type Tag, useTags } from './use-catalog.ts'

/** Stands for the tag that does not exist yet. */
const NEW = 'new'

const matching = createFilterOptions<Tag>()

/** Tags of a product; one that does not exist is created on the way. */
export function TagsInput ({ source }: { readonly source: string }) {
  const { field, fieldState: { error, invalid } } = useInput({ source, defaultValue: [] })
  const { data, isPending, refetch } = useTags()
  const [create, { isPending: isCreating }] = useCreate()
  const notifyError = useNotifyError()
  const tags = data?.rows ?? []
  const value = (field.value ?? []) as readonly string[]

  const choose = async (chosen: readonly Tag[]) => {
    const made = chosen.find(({ id }) => id === NEW)
    const ids = chosen.filter(({ id }) => id !== NEW).map(({ id }) => id)
    if (made === undefined) return field.onChange(ids)
    if (isCreating) return
    try {
      const tag = await create('tags', { data: { name: made.name } }, { returnPromise: true })
      await refetch()
      field.onChange([...ids, tag.id])
    } catch (error) {
      notifyError(error as Error)
    }
  }
  return (
    <Autocomplete
      multiple
      disableCloseOnSelect
      loading={isPending}
      options={tags as Tag[]}
      filterSelectedOptions
      value={value.map((id) => tags.find((tag) => tag.id === id) ?? { id, name: '…' })}
      onChange={(_event, chosen) => {
        choose(chosen)
      }}
      onBlur={() => field.onBlur()}
      filterOptions={(options, state) => {
        const name = state.inputValue.trim()
        const isNew = data !== undefined && name !== '' &&
          tags.every((tag) => tag.name.toLowerCase() !== name.toLowerCase())
        return [...matching(options, state), ...isNew ? [{ id: NEW, name }] : []]
      }}
      getOptionLabel={({ name }) => name}
      getOptionKey={({ id }) => id}
      isOptionEqualToValue={(one, two) => one.id === two.id}
      renderOption={({ key, ...props }, { id, name }) => (
        <li key={key} {...props}>{id === NEW ? texts.products.createTag(name) : name}</li>
      )}
      renderValue={(chosen, getItemProps) =>
        chosen.map(({ name }, index) => {
          const { key, ...props } = getItemProps({ index })
          return <Chip key={key} size='small' label={name} {...props} />
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
