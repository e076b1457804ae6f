import UndoIcon from '@mui/icons-material/Undo'
import {
  Box,
  Button,
  Skeleton,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useBasename } from 'react-admin'
import { Link, useParams } from 'react-router-dom'
import { ActivityLine } from '../activity/activity-line.tsx'
import type { Entry } from '../activity/entry.ts'
import { UndoAll } from '../activity/undo-all.tsx'
import { listUrl } from '../api/http.ts'
import { NoRecord } from '../layout/no-record.tsx'
import { NotFound } from '../layout/not-found.tsx'
import { PageSkeleton } from '../layout/page-skeleton.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Section } from '../layout/section.tsx'
import { UNSEEN } from '../layout/unseen.ts'
import { loaded } from '../loaded.ts'
import { texts } from '../texts.ts'
import { countText, dateText } from '../times.ts'
import { UsageSection } from '../usage/usage-section.tsx'
import { useShop, useViewer } from '../viewer.tsx'
import { CreatedKey } from './created-key.tsx'
import { FailedCalls } from './failed-calls.tsx'
import { FirstCall } from './first-call.tsx'
import type { ApiKey, NewKey } from './key.ts'
import { RevokeKey, RotateKey } from './key-dialogs.tsx'
import { KeyFacts } from './key-facts.tsx'
import { callsByDay, type KeyUse } from './key-use.ts'
import { useKeyUse } from './use-key-use.ts'
import { WaitingKeys } from './waiting-keys.tsx'

const CallsChart = lazy(async () =>
  await loaded(async () => ({ default: (await import('./calls-chart.tsx')).CallsChart }))
)

/** How often the page reads again, in milliseconds. */
const EVERY = 10_000

/** How many changes of the key are on its page. */
const RECENT = 5

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** One API key: what it is for, what it was used for, and what can be done about that. */
export function KeyPage () {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const { id = '' } = useParams()
  const isId = UUID.test(id)
  const { data: key, error } = useQuery({
    // The dialogs that change a key invalidate what begins so.
    queryKey: ['api-keys', shopId, id],
    enabled: isId,
    queryFn: async () =>
      (await call<readonly ApiKey[]>(listUrl(`/shops/${shopId}/api-keys/`, { filter: { id: [id] } }))).json[0] ?? null
  })
  if (!isId || key === null) return <NotFound />
  if (key === undefined && error !== null) return <NoRecord error={error} />
  return key === undefined ? <PageSkeleton /> : <Page key={key.id} apiKey={key} />
}

function Page ({ apiKey }: { readonly apiKey: ApiKey }) {
  const shop = useShop()
  const basename = useBasename()
  const { data: use } = useKeyUse(apiKey.id, EVERY)
  const changes = useChanges(apiKey.id)
  const [asking, setAsking] = useState<'undo' | 'rotate' | 'revoke'>()
  const [created, setCreated] = useState<NewKey>()
  const close = () => setAsking(undefined)
  const isActive = apiKey.status === 'active'
  return (
    <>
      <PageHeading
        title={apiKey.name}
        text={<Link to={`${basename}/api-keys`} style={{ color: 'inherit' }}>{texts.keys.title}</Link>}
      >
        {(changes.data?.length ?? 0) > 0 && (
          <Button
            variant='outlined'
            startIcon={<UndoIcon />}
            onClick={() => setAsking('undo')}
          >
            {texts.keys.undoAll}
          </Button>
        )}
        {shop.isOwner && isActive && (
          <Button variant='outlined' onClick={() => setAsking('rotate')}>{texts.keys.rotate}</Button>
        )}
        {shop.isOwner && isActive && (
          <Button variant='outlined' color='error' onClick={() => setAsking('revoke')}>{texts.keys.revoke}</Button>
        )}
      </PageHeading>
      <WaitingKeys keyId={apiKey.id} />
      {isActive && apiKey.last_used_at === null && (
        <Box sx={{ mb: 2 }}>
          <FirstCall keyId={apiKey.id} />
        </Box>
      )}
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'minmax(0, 3fr) minmax(0, 2fr)' },
          alignItems: 'start'
        }}
      >
        <Box sx={{ display: 'grid', gap: 2 }}>
          <Section
            title={texts.keys.calls}
            text={use === undefined
              ? texts.keys.callsWhy
              : texts.keys.counts(
                countText(use.calls, shop.locale),
                countText(use.errors, shop.locale),
                use.calls,
                use.errors
              )}
          >
            {use === undefined ? <Skeleton variant='rounded' height={220} /> : use.calls > 0 && <Calls use={use} />}
          </Section>
          {use !== undefined && (use.failed.length > 0 || use.errors > 0) && (
            <Section
              title={texts.keys.failed}
              text={use.failed.length > 0 ? texts.keys.failedWhy(use.failed.length) : texts.keys.noneKept}
            >
              <FailedCalls calls={use.failed} />
            </Section>
          )}
        </Box>
        <Box sx={{ display: 'grid', gap: 2 }}>
          <Section
            title={texts.keys.about}
            // Who made it, who revoked it, and when. Only owners see what was done to keys.
            action={shop.isOwner && <HistoryLink filter={{ record_id: apiKey.id }}>{texts.keys.history}</HistoryLink>}
          >
            <KeyFacts apiKey={apiKey} clients={use?.clients} />
          </Section>
          <UsageSection keyId={apiKey.id} />
          <Changes keyId={apiKey.id} changes={changes} />
        </Box>
      </Box>
      {asking === 'undo' && <UndoAll actorKind='api-key' actorId={apiKey.id} name={apiKey.name} onClose={close} />}
      {asking === 'rotate' && <RotateKey apiKey={apiKey} onClose={close} onRotated={setCreated} />}
      {asking === 'revoke' && <RevokeKey apiKey={apiKey} onClose={close} />}
      {created !== undefined && <CreatedKey apiKey={created} onClose={() => setCreated(undefined)} />}
    </>
  )
}

/** The calls by day and by tool. */
function Calls ({ use: { hours, tools } }: { readonly use: KeyUse }) {
  const { locale, timeZone } = useShop()
  const days = callsByDay(hours, timeZone)
  const rows = (
    name: string,
    items: ReadonlyArray<{ readonly name: string, readonly calls: number, readonly errors: number }>,
    isUnseen: boolean
  ) => (
    <TableContainer sx={isUnseen ? UNSEEN : {}}>
      <Table size='small' aria-label={name}>
        <TableHead>
          <TableRow>
            {[name, ...texts.keys.callColumns].map((column, index) => (
              <TableCell key={column} align={index === 0 ? 'left' : 'right'}>{column}</TableCell>
            ))}
          </TableRow>
        </TableHead>
        <TableBody>
          {items.map(({ name, calls, errors }) => (
            <TableRow key={name}>
              <TableCell component='th' scope='row' sx={{ overflowWrap: 'anywhere' }}>{name}</TableCell>
              <TableCell align='right'>{countText(calls, locale)}</TableCell>
              <TableCell align='right' sx={{ color: errors > 0 ? 'error.main' : undefined }}>
                {countText(errors, locale)}
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
  return (
    <>
      <Suspense fallback={<Skeleton variant='rounded' height={220} />}>
        <CallsChart days={days} locale={locale} />
      </Suspense>
      {rows(
        texts.keys.day,
        days.filter(({ calls }) => calls > 0).map(({ day, ...counts }) => ({
          name: dateText(`${day}T12:00:00Z`, { locale, timeZone: 'UTC' }),
          ...counts
        })),
        true
      )}
      {rows(texts.keys.tool, tools.map(({ tool, ...counts }) => ({ name: tool, ...counts })), false)}
    </>
  )
}

function Changes (
  { keyId, changes: { data } }: { readonly keyId: string, readonly changes: ReturnType<typeof useChanges> }
) {
  return (
    <Section
      title={texts.keys.changes}
      action={<HistoryLink filter={{ actor_id: keyId }}>{texts.keys.allChanges}</HistoryLink>}
    >
      {data?.length === 0 && <Typography color='textSecondary'>{texts.keys.noChanges}</Typography>}
      {data !== undefined && data.length > 0 && (
        <Box component='ol' sx={{ listStyle: 'none', m: 0, p: 0, mx: -2.5 }}>
          {data.map((entry) => <ActivityLine key={entry.id} entry={entry} />)}
        </Box>
      )}
    </Section>
  )
}

function HistoryLink ({ filter, children }: { readonly filter: object, readonly children: string }) {
  const basename = useBasename()
  return (
    <Button
      size='small'
      component={Link}
      to={`${basename}/history?filter=${encodeURIComponent(JSON.stringify(filter))}`}
    >
      {children}
    </Button>
  )
}

function useChanges (keyId: string) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const filter = { actor_id: keyId, action: ['create', 'update', 'delete'] }
  return useQuery({
    queryKey: ['history', 'of key', keyId],
    refetchInterval: EVERY,
    queryFn: async () =>
      (await call<readonly Entry[]>(listUrl(`/shops/${shopId}/history`, { limit: RECENT, sort: '-at', filter }))).json
  })
}
