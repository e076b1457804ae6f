import TagIcon from '@mui/icons-material/LocalOfferOutlined'
import {
  Alert,
  Autocomplete,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogTitle,
  LinearProgress,
  TextField
} from '@mui/material'
import { useState } from 'react'
import { useListContext, useNotify } from 'react-admin'
import type { Versioned } from '../api/save.ts'
import { useAnnounceProgress } from '../layout/announcements.tsx'
import { useSave } from '../layout/conflicts.tsx'
import { useSelected } from '../layout/selection.tsx'
import { ErrorText } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { useBulk } from './use-bulk.ts'
import { type Tag, useTags } from './use-catalog.ts'

type Product = Versioned & { readonly tag_ids: readonly string[] }

/** Adds tags to the selected products, and removes others. */
export function BulkTags () {
  const { selectedIds } = useListContext()
  const { call } = useViewer()
  const saveChanges = useSave()
  const { id: shopId } = useShop()
  const { data } = useTags()
  const bulk = useBulk()
  const notify = useNotify()
  const [isOpen, setOpen] = useState(false)
  const [added, setAdded] = useState<readonly Tag[]>([])
  const [removed, setRemoved] = useState<readonly Tag[]>([])
  const [done, setDone] = useState<number>()
  const [failure, setFailure] = useState<Error>()
  const close = () => {
    setOpen(false)
    setAdded([])
    setRemoved([])
    setDone(undefined)
    setFailure(undefined)
  }

  const { ids, named } = useSelected(isOpen)

  const apply = async (ids: readonly string[]) => {
    setFailure(undefined)
    setDone(0)
    try {
      notify(
        await bulk(ids, async (id) => {
          const path = `/shops/${shopId}/products/${id}`
          // As they are now: the list may be older than the last change of an agent.
          const { json: product } = await call<Product>(path)
          const { tag_ids: before } = product
          const after = [...new Set([...before, ...added.map(({ id }) => id)])].filter((id) =>
            removed.every((tag) => tag.id !== id)
          )
          const isChanged = after.length !== before.length || after.some((id) => !before.includes(id))
          if (isChanged) await saveChanges(path, product, { tag_ids: after })
          setDone((done = 0) => done + 1)
          return isChanged
        }),
        { type: 'success' }
      )
      close()
    } catch (error) {
      setFailure(error as Error)
      setDone(undefined)
    }
  }
  const isBusy = done !== undefined
  const count = Math.max(selectedIds.length, 1)
  useAnnounceProgress(done === undefined ? undefined : done / count, texts.products.bulk.progress(done ?? 0, count))
  const choice = (
    label: string,
    value: readonly Tag[],
    onChange: (tags: readonly Tag[]) => void,
    other: readonly Tag[]
  ) => (
    <Autocomplete
      multiple
      options={(data?.rows ?? []).filter(({ id }) => other.every((tag) => tag.id !== id))}
      value={value as Tag[]}
      disabled={isBusy}
      onChange={(_event, tags) => onChange(tags)}
      getOptionLabel={({ name }) => name}
      getOptionKey={({ id }) => id}
      isOptionEqualToValue={(one, two) => one.id === two.id}
      filterSelectedOptions
      renderInput={(params) => <TextField {...params} label={label} />}
    />
  )
  return (
    <>
      <Button size='small' startIcon={<TagIcon />} onClick={() => setOpen(true)}>{texts.products.bulk.tags}</Button>
      <Dialog open={isOpen} onClose={isBusy ? undefined : close} fullWidth maxWidth='xs' aria-labelledby='bulk-tags'>
        <DialogTitle id='bulk-tags'>{texts.products.bulk.title((ids ?? selectedIds).length)}</DialogTitle>
        <DialogContent>
          {named}
          {choice(texts.products.bulk.add, added, setAdded, removed)}
          {choice(texts.products.bulk.remove, removed, setRemoved, added)}
          {isBusy && (
            <LinearProgress
              variant='determinate'
              value={done / count * 100}
              aria-label={texts.products.bulk.title(count)}
              sx={{ mt: 2 }}
            />
          )}
          {failure !== undefined && (
            <Alert severity='error' sx={{ mt: 2 }}>
              <ErrorText error={failure} />
            </Alert>
          )}
        </DialogContent>
        <DialogActions>
          <Button onClick={close} disabled={isBusy}>{texts.list.cancel}</Button>
          <Button
            variant='contained'
            disabled={isBusy || (ids ?? []).length === 0 || added.length + removed.length === 0}
            onClick={() => {
              apply(ids!)
            }}
          >
            {texts.products.bulk.apply}
          </Button>
        </DialogActions>
      </Dialog>
    </>
  )
}
