import { Alert, Box, DialogContentText, MenuItem, TextField } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../layout/form-dialog.tsx'
import type { Question } from '../layout/ask.tsx'
import { ErrorText } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { useViewer } from '../viewer.tsx'

/** An API key of somebody, which works. */
interface PersonKey {
  readonly id: string
  readonly name: string
  readonly shop_name: string
}

/** Somebody who can take keys over. */
export interface Heir {
  readonly id: string
  readonly name: string
}

/** What becomes of keys, as the server takes it. Empty: they are refused until somebody decides. */
export interface Decision {
  readonly keys?: 'revoke' | 'hand_over'
  readonly keys_to?: string
}

interface LeavingDialogProps extends Question {
  readonly submit: string
  /** Where the server lists the keys of the person. */
  readonly keysPath: string
  /** Whether keys of several shops are listed. */
  readonly inShops?: boolean
  /** Whether the viewer decides about keys. */
  readonly mayDecide: boolean
  /** Whether keys may wait for a decision: not where nothing else is decided. Default: true. */
  readonly mayWait?: boolean
  /** Who can take them over. */
  readonly heirs: () => Promise<readonly Heir[]>
  readonly onConfirm: (decision: Decision) => Promise<unknown>
  readonly onClose: () => void
}

const FATES = ['revoke', 'hand_over', 'later'] as const

/** Asks before somebody leaves. Who has API keys leaves them behind: it names them, and asks what becomes of them. */
export function LeavingDialog (
  { title, why, submit, keysPath, inShops = false, mayDecide, mayWait = true, heirs, onConfirm, onClose }:
    LeavingDialogProps
) {
  const { call } = useViewer()
  const { data: keys = [], error, isPending } = useQuery({
    queryKey: ['keys of a person', keysPath],
    queryFn: async () => (await call<{ readonly keys: readonly PersonKey[] }>(keysPath)).json.keys,
    // What is decided about is what is there now.
    gcTime: 0,
    retry: false
  })
  const [fate, setFate] = useState<typeof FATES[number] | ''>('')
  const [heir, setHeir] = useState('')
  const asks = mayDecide && keys.length > 0
  const { data: people = [] } = useQuery({
    queryKey: ['heirs of keys', keysPath],
    queryFn: heirs,
    enabled: asks && fate === 'hand_over',
    gcTime: 0
  })
  const isDecided = !asks || (fate === 'hand_over' ? heir !== '' : fate !== '')
  const decision = (): Decision => {
    if (!asks || fate === 'later' || fate === '') return {}
    return fate === 'revoke' ? { keys: fate } : { keys: fate, keys_to: heir }
  }
  return (
    <FormDialog
      title={title}
      submit={submit}
      cancel={texts.ask.back}
      isDangerous
      isReady={!isPending && isDecided}
      fields={['keys_to']}
      onSubmit={async () => {
        await onConfirm(decision())
      }}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <DialogContentText>{why}</DialogContentText>
          {error !== null && (
            <Alert severity='warning' sx={{ mt: 2 }}>
              <ErrorText error={error} text={texts.leaving.notRead(error.message)} />
            </Alert>
          )}
          {keys.length > 0 && (
            <>
              {/* Those that wait for a decision do not work, as the question has said. */}
              {mayWait && (
                <DialogContentText sx={{ mt: 2 }}>
                  {mayDecide ? texts.leaving.keys(keys.length) : texts.leaving.ownersDecide(keys.length)}
                </DialogContentText>
              )}
              <Box component='ul' aria-label={texts.leaving.list} sx={{ mt: 0.5, mb: 2, pl: 3 }}>
                {keys.map(({ id, name, shop_name: shop }) => (
                  <li key={id}>{inShops ? texts.leaving.ofShop(name, shop) : <bdi>{name}</bdi>}</li>
                ))}
              </Box>
            </>
          )}
          {asks && (
            <TextField
              select
              fullWidth
              label={texts.leaving.fate}
              value={fate}
              onChange={({ target }) => setFate(target.value as typeof fate)}
              helperText={fate === '' ? ' ' : texts.leaving.fateHelp[fate]}
            >
              {FATES.filter((name) => mayWait || name !== 'later').map((name) => (
                <MenuItem key={name} value={name}>{texts.leaving.fates[name]}</MenuItem>
              ))}
            </TextField>
          )}
          {asks && fate === 'hand_over' && (
            <TextField
              select
              fullWidth
              label={texts.leaving.heir}
              value={people.some(({ id }) => id === heir) ? heir : ''}
              onChange={({ target }) => setHeir(target.value)}
              error={'keys_to' in faults}
              helperText={faults['keys_to'] ?? ' '}
            >
              {people.map(({ id, name }) => <MenuItem key={id} value={id}>{name}</MenuItem>)}
            </TextField>
          )}
        </>
      )}
    </FormDialog>
  )
}
