import { Alert, Box, Button, Dialog, DialogActions, DialogContent, DialogTitle, Typography } from '@mui/material'
import { useState } from 'react'
import { AskBeforeLeaving } from '../layout/ask-before-leaving.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { settings } from '../settings.ts'
import { OfServer } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { ClientSetups } from './client-setups.tsx'
import { FirstCall } from './first-call.tsx'
import type { NewKey } from './key.ts'

/** Shows a new key once, with what to paste into each client. */
export function CreatedKey ({ apiKey, onClose }: { readonly apiKey: NewKey, readonly onClose: () => void }) {
  const [isCopied, setCopied] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const close = () => isCopied || isAsking ? onClose() : setAsking(true)
  return (
    <Dialog open fullWidth maxWidth='sm' aria-labelledby='created-key'>
      {!isCopied && <AskBeforeLeaving />}
      <DialogTitle id='created-key'>{texts.keys.ready}</DialogTitle>
      <DialogContent>
        <Typography color='textSecondary' sx={{ mb: 2 }}>{texts.keys.readyWhy}</Typography>
        <CopyField
          label={`${texts.keys.key}: ${apiKey.name}`}
          text={apiKey.plaintext}
          onCopied={() => setCopied(true)}
        />
        <ClientSetups apiKey={apiKey.plaintext} onCopied={() => setCopied(true)} />
        {settings.mcp !== undefined && <FirstCall keyId={apiKey.id} />}
        {apiKey.warnings?.length > 0 && (
          <Alert severity='warning' sx={{ mt: 2 }}>
            <Box component='ul' sx={{ m: 0, pl: 2 }}>
              {apiKey.warnings.map((warning) => (
                <li key={warning}>
                  <OfServer text={warning} />
                </li>
              ))}
            </Box>
          </Alert>
        )}
      </DialogContent>
      <DialogActions>
        {isAsking && <Typography role='alert' color='error' sx={{ mr: 'auto', pl: 2 }}>{texts.keys.unsaved}
        </Typography>}
        <Button variant='contained' onClick={close}>{texts.keys.done}</Button>
      </DialogActions>
    </Dialog>
  )
}
