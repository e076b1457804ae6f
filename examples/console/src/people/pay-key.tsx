import { Alert, Box, Button, TextField, Typography } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ActButton } from '../layout/act-button.tsx'
import { AskBeforeLeaving } from '../layout/ask-before-leaving.tsx'
import { ErrorText } from '../layout/of-server.tsx'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { PAY_STATES, payStateOf } from './pay-state.ts'

interface Verdict {
  readonly valid: boolean
  readonly code?: string
}

interface Status {
  readonly configured: boolean
  readonly readable: boolean
  readonly accounts: number
  readonly linked: number
  readonly synced: number
}

/** The shop's key at its payment provider: whether there is one and it works, and a new one. */
export function PayKey () {
  const { call } = useViewer()
  const { id, isOwner } = useShop()
  const queryClient = useQueryClient()
  const path = `/shops/${id}/pay`
  const { data } = useQuery({
    queryKey: ['pay', 'status'],
    queryFn: async () => (await call<Status>(`${path}/status`)).json
  })
  const [key, setKey] = useState('')
  const [said, setSaid] = useState<{ readonly severity: 'success' | 'error', readonly text: ReactNode }>()
  const [isBusy, setBusy] = useState(false)

  const readAgain = async () => await queryClient.invalidateQueries({ queryKey: ['pay'] })
  const attempt = async (work: () => Promise<void>) => {
    setSaid(undefined)
    setBusy(true)
    try {
      await work()
    } catch (error) {
      setSaid({ severity: 'error', text: <ErrorText error={error as Error} /> })
    }
    setBusy(false)
  }
  const verify = async () => {
    const { json: { valid, code } } = await call<Verdict>(`${path}/key/verify`, { method: 'POST', isRead: true })
    setSaid(
      valid
        ? { severity: 'success', text: texts.settings.valid }
        : { severity: 'error', text: texts.settings.invalid(code ?? '') }
    )
  }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    await attempt(async () => {
      await call(`${path}/key`, { method: 'PUT', data: { pay_secret_key: key.trim() } })
      setKey((now) => now === key ? '' : now)
      await readAgain()
      await verify().catch((error: Error) => {
        throw new Error(texts.settings.savedOnly(error.message), { cause: error })
      })
    })
  }
  const state = data === undefined ? '' : PAY_STATES[payStateOf(data)]
  return (
    <Section title={texts.settings.pay} text={texts.settings.payWhy}>
      <Typography sx={{ fontWeight: 600 }}>{state}</Typography>
      {data !== undefined && (
        <Typography variant='body2' color='textSecondary'>
          {texts.settings.counts(data.accounts, data.linked, data.synced)}
        </Typography>
      )}
      <Box sx={{ display: 'flex', gap: 1, my: 1.5, flexWrap: 'wrap' }}>
        <Button
          variant='outlined'
          disabled={data?.configured !== true || isBusy}
          onClick={() => {
            attempt(verify)
          }}
        >
          {texts.settings.verify}
        </Button>
        {isOwner && (
          <ActButton
            color='error'
            disabled={data?.configured !== true}
            question={{ title: texts.settings.removeTitle, why: texts.settings.removeWhy }}
            act={async () => await call(`${path}/key`, { method: 'DELETE' }).finally(readAgain)}
          >
            {texts.settings.remove}
          </ActButton>
        )}
      </Box>
      {key.trim() !== '' && <AskBeforeLeaving />}
      {said !== undefined && <Alert severity={said.severity} sx={{ mb: 1.5 }}>{said.text}</Alert>}
      {isOwner && (
        <form
          onSubmit={(event) => {
            save(event)
          }}
        >
          <TextField
            label={texts.settings.newKey}
            type='password'
            autoComplete='off'
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
          <Button type='submit' variant='contained' disabled={key.trim() === ''} loading={isBusy} sx={{ mt: 1 }}>
            {texts.settings.replace}
          </Button>
        </form>
      )}
    </Section>
  )
}
