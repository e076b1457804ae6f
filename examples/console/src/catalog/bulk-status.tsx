import { Button, Menu, MenuItem } from '@mui/material'
import StatusIcon from '@mui/icons-material/PublishedWithChangesOutlined'
import { useState } from 'react'
import { useListContext, useNotify, useUnselectAll, useUpdateMany } from 'react-admin'
import { Interrupted } from '../api/in-turn.ts'
import { useNotifyError } from '../layout/use-notify-error.ts'
import { statusText, texts } from '../texts.ts'

/** Sets the status of the selected products. */
export function BulkStatus () {
  const { selectedIds, onSelect, refetch } = useListContext()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [updateMany, { isPending }] = useUpdateMany()
  const unselect = useUnselectAll('products')
  const notify = useNotify()
  const notifyError = useNotifyError()
  const set = (status: string) => {
    setAnchor(null)
    // A second click meets the menu while it closes.
    if (isPending) return
    updateMany('products', { ids: selectedIds, data: { status } }, {
      mutationMode: 'pessimistic',
      onSuccess: () => { notify(texts.products.bulk.done(selectedIds.length), { type: 'success' }); unselect() },
      onError: (error) => {
        const done = error instanceof Interrupted ? error.done : []
        onSelect(selectedIds.filter((id) => !done.includes(id)))
        refetch()
        notifyError({ message: texts.products.bulk.stopped(done.length, selectedIds.length, (error as Error).message) })
      }
    })
  }
  return (
    <>
      <Button size='small' startIcon={<StatusIcon />} disabled={isPending} aria-haspopup='menu' onClick={({ currentTarget }) => setAnchor(currentTarget)}>{texts.products.bulk.status}</Button>
      <Menu anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}>
        {['active', 'draft', 'archived'].map((status) => <MenuItem key={status} onClick={() => set(status)}>{statusText(status)}</MenuItem>)}
      </Menu>
    </>
  )
}
