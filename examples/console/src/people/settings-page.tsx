import { Alert, Box, Button, FormControlLabel, Stack, Switch, TextField, Typography } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useNotify } from 'react-admin'
import { changesOf } from '../api/changes.ts'
import { ApiError } from '../api/problem.ts'
import { AskBeforeLeaving } from '../layout/ask-before-leaving.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { PayKey } from './pay-key.tsx'

interface Config { readonly currency: string, readonly locale: string, readonly time_zone: string, readonly contact_email: string | null, readonly prices_include_tax: boolean, readonly confirm_agent_calls: boolean }

/** The settings of the shop, and its payment key. */
export function SettingsPage () {
  const { call } = useViewer()
  const shop = useShop()
  const { data, error } = useQuery({ queryKey: ['config'], queryFn: async () => (await call<Config>(`/shops/${shop.id}/config`)).json })
  return (
    <>
      <PageHeading title={texts.settings.title} text={shop.isOwner ? undefined : texts.settings.ownersOnly} />
      {error !== null && <Alert severity='error'>{error.message}</Alert>}
      <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: { md: '1fr 1fr' }, alignItems: 'start' }}>
        {data !== undefined && <General config={data} />}
        <PayKey />
      </Box>
    </>
  )
}

const SWITCHES = [['prices_include_tax', 'tax'], ['confirm_agent_calls', 'confirm']] as const
const FIELDS = [['currency', 'currency', 'currencyHelp'], ['locale', 'locale', 'localeHelp'], ['time_zone', 'zone', 'zoneHelp'], ['contact_email', 'email', undefined]] as const

function General ({ config }: { readonly config: Config }) {
  const { call } = useViewer()
  const { id, isOwner } = useShop()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const [typed, setTyped] = useState(config)
  const [error, setError] = useState<ApiError>()
  const changes = changesOf({ ...config }, { ...typed, contact_email: typed.contact_email === '' ? null : typed.contact_email })
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setError(undefined)
    try {
      const { json } = await call<Config>(`/shops/${id}/config`, { method: 'PATCH', data: changes })
      queryClient.setQueryData(['config'], json)
      notify(texts.settings.saved, { type: 'success' })
    } catch (error) {
      setError(error as ApiError)
    }
  }
  const fault = (field: string) => error?.problem?.field === field ? error.problem.message : undefined
  return (
    <Section title={texts.settings.general}>
      {Object.keys(changes).length > 0 && <AskBeforeLeaving />}
      <form noValidate onSubmit={(event) => { save(event) }}>
        {FIELDS.map(([field, label, help]) => (
          <TextField key={field} label={texts.settings[label]} disabled={!isOwner} value={typed[field] ?? ''} onChange={({ target }) => setTyped({ ...typed, [field]: target.value })} error={fault(field) !== undefined} helperText={fault(field) ?? (help && texts.settings[help])} />
        ))}
        {SWITCHES.map(([field, label]) => (
          <FormControlLabel key={field} sx={{ display: 'flex' }} label={texts.settings[label]} control={<Switch disabled={!isOwner} checked={typed[field]} onChange={({ target }) => setTyped({ ...typed, [field]: target.checked })} />} />
        ))}
        {error !== undefined && <Alert severity='error' sx={{ my: 1 }}>{error.message}</Alert>}
        {isOwner && <Stack direction='row' sx={{ mt: 1 }}><Button type='submit' variant='contained' disabled={Object.keys(changes).length === 0}>{texts.settings.save}</Button></Stack>}
        <Typography variant='body2' color='textSecondary' sx={{ mt: 1 }}>{texts.settings.reload}</Typography>
      </form>
    </Section>
  )
}
