import { DialogContentText, MenuItem, TextField } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify } from 'react-admin'
import { Ask } from '../layout/ask.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import type { ApiKey, NewKey } from './key.ts'

/** How long the old key goes on, in seconds. */
const GRACES = { now: 0, hour: 3600, day: 86_400, week: 604_800 } as const

interface KeyDialogProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
}

/** Replaces a key by a successor. */
export function RotateKey (
  { apiKey, onClose, onRotated }: KeyDialogProps & { readonly onRotated: (key: NewKey) => void }
) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const queryClient = useQueryClient()
  const [grace, setGrace] = useState<keyof typeof GRACES>('day')
  const rotate = async () => {
    const { json } = await call<NewKey>(`/shops/${shopId}/api-keys/${apiKey.id}/rotate`, {
      method: 'POST',
      data: { grace: GRACES[grace] }
    })
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] })
    onRotated(json)
  }
  return (
    <FormDialog
      title={texts.keys.rotateTitle(apiKey.name)}
      submit={texts.keys.rotate}
      onClose={onClose}
      onSubmit={rotate}
    >
      {() => (
        <>
          <DialogContentText sx={{ mb: 1 }}>{texts.keys.rotateWhy}</DialogContentText>
          <TextField
            select
            fullWidth
            label={texts.keys.grace}
            value={grace}
            onChange={({ target }) => setGrace(target.value as keyof typeof GRACES)}
          >
            {(Object.keys(GRACES) as Array<keyof typeof GRACES>).map((name) => (
              <MenuItem key={name} value={name}>{texts.keys.graces[name]}</MenuItem>
            ))}
          </TextField>
        </>
      )}
    </FormDialog>
  )
}

/** Ends a key at once. */
export function RevokeKey ({ apiKey, onClose }: KeyDialogProps) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const revoke = async () => {
    await call(`/shops/${shopId}/api-keys/${apiKey.id}`, { method: 'DELETE' })
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] })
    notify(texts.keys.revoked(apiKey.name), { type: 'success' })
  }
  return (
    <Ask
      title={texts.keys.revokeTitle(apiKey.name)}
      why={texts.keys.revokeWhy}
      submit={texts.keys.revoke}
      isDangerous
      onConfirm={revoke}
      onClose={onClose}
    />
  )
}
