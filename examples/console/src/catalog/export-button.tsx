import ExportIcon from '@mui/icons-material/FileDownloadOutlined'
import { Button } from '@mui/material'
import { useState } from 'react'
import { useListContext } from 'react-admin'
import { listUrl } from '../api/http.ts'
import { useNotifyError } from '../layout/use-notify-error.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { download } from './download.ts'

/** Saves all products that match the filters, as a file that can be imported again. */
export function ExportButton () {
  const { call } = useViewer()
  const { id, slug } = useShop()
  const { filterValues = {} } = useListContext()
  const notifyError = useNotifyError()
  const [isBusy, setBusy] = useState(false)
  const save = () => {
    setBusy(true)
    call(listUrl(`/shops/${id}/products/export`, { filter: filterValues }), {
      headers: new Headers({ accept: 'text/csv' })
    })
      .then(({ body }) => download(`${slug}-products.csv`, body), notifyError)
      .finally(() => setBusy(false))
  }
  return (
    <Button size='small' startIcon={<ExportIcon />} onClick={save} loading={isBusy} disabled={isBusy}>
      {texts.products.export}
    </Button>
  )
}
