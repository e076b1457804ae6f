import { Alert, Box, Button, Card, FormControlLabel, Stack, Switch, TextField, Typography } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useNotify } from 'react-admin'
import { changesOf } from '../api/changes.ts'
import { ApiError } from '../api/problem.ts'
import { AskBeforeLeaving } from '../layout/ask-before-leaving.tsx'
import { currencies, locales, timeZones } from '../layout/codes.ts'
import { useSave } from '../layout/conflicts.tsx'
import { RowsSkeleton } from '../layout/page-skeleton.tsx'
import { PageHeading } from '../layout/page.tsx'
import { ErrorText } from '../layout/of-server.tsx'
import { Picker } from '../layout/picker.tsx'
import { Section } from '../layout/section.tsx'
import { isCurrency, moneyText } from '../money.ts'
import { texts } from '../texts.ts'
import { numberLocale, timeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { UsageSection } from '../usage/usage-section.tsx'
import { PayKey } from './pay-key.tsx'

interface Config {
  readonly currency: string
  readonly locale: string
  readonly time_zone: string
  readonly contact_email: string | null
  readonly prices_include_tax: boolean
  readonly confirm_agent_calls: boolean
  readonly updated_at: string
}

/** The settings of the shop, and its payment key. */
export function SettingsPage () {
  const { call } = useViewer()
  const shop = useShop()
  const { data } = useQuery({
    queryKey: ['config'],
    queryFn: async () => (await call<Config>(`/shops/${shop.id}/config`)).json,
    refetchOnWindowFocus: false
  })
  return (
    <>
      <PageHeading title={texts.settings.title} text={shop.isOwner ? undefined : texts.settings.ownersOnly} />
      <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: { md: '1fr 1fr' }, alignItems: 'start' }}>
        {data === undefined
          ? (
            <Card>
              <RowsSkeleton />
            </Card>
          )
          : <General config={data} />}
        <Box sx={{ display: 'grid', gap: 2 }}>
          <PayKey />
          <UsageSection />
        </Box>
      </Box>
    </>
  )
}

const SWITCHES = [['prices_include_tax', 'tax'], ['confirm_agent_calls', 'confirm']] as const
function General ({ config }: { readonly config: Config }) {
  const saveChanges = useSave()
  const { id, isOwner } = useShop()
  const queryClient = useQueryClient()
  const notify = useNotify()
  // Only what was typed: the rest is as the server has it.
  const [typed, setTyped] = useState<Partial<Config>>({})
  const latest = useRef(typed)
  latest.current = typed
  const sent = useRef(typed)
  const [error, setError] = useState<ApiError>()
  const [isBusy, setBusy] = useState(false)
  const shown = { ...config, ...typed }
  const changes = changesOf({ ...config }, { ...typed, ...typed.contact_email === '' && { contact_email: null } })
  useEffect(() => {
    // Unless somebody goes on typing.
    if (error === undefined || sent.current !== typed) return
    document.querySelector<HTMLElement>('form [aria-invalid=true]')?.focus()
  }, [error])
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setError(undefined)
    setBusy(true)
    sent.current = typed
    try {
      const json = await saveChanges(`/shops/${id}/config`, { ...config }, changes) as unknown as Config
      queryClient.setQueryData(['config'], json)
      const since = changesOf(typed, latest.current)
      setTyped(since)
      notify(
        Object.keys(since).length === 0 ? texts.settings.saved : `${texts.settings.saved}. ${texts.saved.since}`,
        { type: 'success' }
      )
    } catch (error) {
      setError(error as ApiError)
    }
    setBusy(false)
  }
  const fault = (field: string) => error?.problem?.field === field ? error.atField : undefined
  const input = (field: 'currency' | 'locale' | 'time_zone' | 'contact_email', label: string, help?: string) => ({
    label,
    value: shown[field] ?? '',
    name: field,
    disabled: !isOwner,
    error: fault(field) !== undefined,
    helperText: fault(field) ?? help
  })
  const set = (field: keyof Config) => (value: string) => setTyped({ ...typed, [field]: value })
  return (
    <Section title={texts.settings.general}>
      {Object.keys(changes).length > 0 && <AskBeforeLeaving />}
      <form
        noValidate
        onSubmit={(event) => {
          save(event)
        }}
      >
        <Picker
          {...input('currency', texts.settings.currency, texts.settings.currencyHelp)}
          onChange={(text) => set('currency')(text.toUpperCase())}
          choices={currencies()}
        />
        <Picker
          {...input('locale', texts.settings.locale, texts.settings.localeHelp(exampleOf(shown)))}
          onChange={set('locale')}
          choices={locales()}
        />
        <Picker
          {...input('time_zone', texts.settings.zone, texts.settings.zoneHelp)}
          onChange={set('time_zone')}
          choices={timeZones()}
        />
        <TextField
          {...input('contact_email', texts.settings.email)}
          onChange={({ target }) => set('contact_email')(target.value)}
        />
        {SWITCHES.map(([field, label]) => (
          <FormControlLabel
            key={field}
            sx={{ display: 'flex' }}
            label={texts.settings[label]}
            control={
              <Switch
                disabled={!isOwner}
                checked={shown[field]}
                onChange={({ target }) => setTyped({ ...typed, [field]: target.checked })}
              />
            }
          />
        ))}
        {error !== undefined && !(error.problem?.field !== undefined && error.problem.field in shown) && (
          <Alert severity='error' sx={{ my: 1 }}>
            <ErrorText error={error} />
          </Alert>
        )}
        {isOwner && (
          <Stack direction='row' sx={{ mt: 1 }}>
            <Button type='submit' variant='contained' disabled={Object.keys(changes).length === 0} loading={isBusy}>
              {texts.settings.save}
            </Button>
          </Stack>
        )}
        <Typography variant='body2' color='textSecondary' sx={{ mt: 1 }}>{texts.settings.reload}</Typography>
      </form>
    </Section>
  )
}

/** How this page writes money and times with that locale. */
function exampleOf ({ currency, locale, time_zone: timeZone }: Config): string {
  return `${isCurrency(currency) ? moneyText(123_450, currency, numberLocale(locale)) : ''} · ` +
    `${timeText(Date.now(), { locale, timeZone })}`
}
