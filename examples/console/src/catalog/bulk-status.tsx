import { Button, DialogContentText, Menu, MenuItem } from '@mui/material'
import StatusIcon from '@mui/icons-material/PublishedWithChangesOutlined'
import { useState } from 'react'
import { useListContext, useNotify } from 'react-admin'
import { FormDialog } from '../layout/form-dialog.tsx'
import { useSelected } from '../layout/selection.tsx'
import { useNotifyError } from '../layout/use-notify-error.tsx'
import { statusText, texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { useBulk } from './use-bulk.ts'

/** Sets the status of the selected products. It asks first if some of them are not seen. */
export function BulkStatus () {
  const { selectedIds } = useListContext()
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [asked, setAsked] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const bulk = useBulk()
  const notify = useNotify()
  const notifyError = useNotifyError()
  const { ids, named } = useSelected(anchor !== null || asked !== undefined)
  const set = async (ids: readonly string[], status: string) => {
    notify(
      await bulk(ids, async (id) => {
        await call(`/shops/${shopId}/products/${id}`, { method: 'PATCH', data: { status } })
        return true
      }),
      { type: 'success' }
    )
  }
  const choose = (status: string) => {
    setAnchor(null)
    // A second click meets the menu while it closes.
    if (isBusy) return
    if (named !== null) return setAsked(status)
    setBusy(true)
    set(selectedIds, status).catch(notifyError).finally(() => setBusy(false))
  }
  return (
    <>
      <Button
        size='small'
        startIcon={<StatusIcon />}
        disabled={isBusy}
        aria-haspopup='menu'
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
      >
        {texts.products.bulk.status}
      </Button>
      <Menu anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}>
        {['active', 'draft', 'archived'].map((status) => (
          <MenuItem key={status} onClick={() => choose(status)}>{statusText(status)}</MenuItem>
        ))}
      </Menu>
      {asked !== undefined && (
        <FormDialog
          title={texts.products.bulk.askStatus((ids ?? selectedIds).length, statusText(asked))}
          submit={texts.products.bulk.status}
          onClose={() => setAsked(undefined)}
          onSubmit={async () => await set(ids!, asked)}
          isReady={ids !== undefined && ids.length > 0}
        >
          {() => <>{named ?? <DialogContentText>{texts.list.allSeen}</DialogContentText>}</>}
        </FormDialog>
      )}
    </>
  )
}
