import { Autocomplete, TextField } from '@mui/material'
import { useState } from 'react'
import { changesOf } from '../api/changes.ts'
import { ifMatch } from '../api/save.ts'
import { Ask } from '../layout/ask.tsx'
import { useSave } from '../layout/conflicts.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { type Category, familyOf, pathsOf } from './tree.ts'

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => Promise<unknown>
}

/** Creates a category below a parent, or changes one. */
export function CategoryDialog (
  { category, parent, onClose, onDone }: DialogProps & {
    readonly category?: Category,
    readonly parent: Category | null
  }
) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const saveChanges = useSave()
  const [typed, setTyped] = useState({
    name: category?.name ?? '',
    slug: category?.slug ?? '',
    description: category?.description ?? ''
  })
  const path = `/shops/${shopId}/categories`
  const save = async () => {
    const { name, slug, description } = typed
    if (category === undefined) {
      await call(path, {
        method: 'POST',
        data: {
          name,
          parent_id: parent?.id ?? null,
          ...slug !== '' && { slug },
          ...description !== '' && { description }
        }
      })
    } else {
      await saveChanges(
        `${path}/${category.id}`,
        { ...category },
        changesOf({ ...category }, { name, slug, description: description === '' ? null : description })
      )
    }
    await onDone()
  }
  const adding = parent === null ? texts.categories.add : texts.categories.addBelow(parent.name)
  const title = category === undefined ? adding : texts.categories.edit(category.name)
  return (
    <FormDialog
      title={title}
      submit={texts.categories.save}
      onClose={onClose}
      onSubmit={save}
      fields={['name', 'slug', 'description']}
    >
      {(faults) =>
        (['name', 'slug', 'description'] as const).map((name) => (
          <TextField
            key={name}
            fullWidth
            label={texts.categories[name]}
            value={typed[name]}
            autoFocus={name === 'name'}
            required={name === 'name'}
            multiline={name === 'description'}
            error={name in faults}
            helperText={faults[name] ?? (name === 'slug' ? texts.products.slugHelp : undefined)}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
          />
        ))}
    </FormDialog>
  )
}

/** Where a category can be. */
interface Place {
  readonly id: string | null
  readonly path: string
}

/** Moves a category, with all below it, to another parent. */
export function MoveCategory (
  { category, categories, onClose, onMove }: {
    readonly category: Category,
    readonly categories: readonly Category[],
    readonly onClose: () => void,
    readonly onMove: (parent: string | null) => Promise<void>
  }
) {
  const family = familyOf(categories, category.id)
  const options: Place[] = [
    { id: null, path: texts.categories.top },
    ...pathsOf(categories).filter(({ id }) => !family.has(id))
  ]
  const [parent, setParent] = useState<Place>(options.find(({ id }) => id === category.parent_id) ?? options[0]!)
  return (
    <FormDialog
      title={texts.categories.move(category.name)}
      submit={texts.categories.save}
      onClose={onClose}
      onSubmit={async () => await onMove(parent.id)}
    >
      {() => (
        <Autocomplete
          options={options}
          value={parent}
          disableClearable
          onChange={(_event, chosen) => setParent(chosen)}
          getOptionLabel={({ path }) => path}
          getOptionKey={({ id }) => id ?? ''}
          isOptionEqualToValue={(one, two) => one.id === two.id}
          renderInput={(params) => <TextField {...params} label={texts.categories.under} autoFocus />}
        />
      )}
    </FormDialog>
  )
}

/** Deletes a category. */
export function DeleteCategory ({ category, onClose, onDone }: DialogProps & { readonly category: Category }) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const remove = async () => {
    await call(`/shops/${shopId}/categories/${category.id}`, { method: 'DELETE', headers: ifMatch(category) }).finally(
      onDone
    )
  }
  return (
    <Ask
      title={texts.ask.delete(category.name)}
      why={texts.categories.removeWhy}
      submit={texts.ask.deleteIt}
      isDangerous
      onConfirm={remove}
      onClose={onClose}
    />
  )
}
