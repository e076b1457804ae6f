import {
  Alert,
  Box,
  Button,
  Card,
  LinearProgress,
  MenuItem,
  TablePagination,
  TextField,
  Typography
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useBasename } from 'react-admin'
import { useNavigate, useParams } from 'react-router-dom'
import { listUrl } from '../api/http.ts'
import { useAnnounceProgress } from '../layout/announcements.tsx'
import { CountChip } from '../layout/count-chip.tsx'
import { NoRecord } from '../layout/no-record.tsx'
import { loaded } from '../loaded.ts'
import { csvFrom } from '../catalog/csv.ts'
import { download } from '../catalog/download.ts'
import { isolated } from '../isolated.ts'
import { ActButton } from '../layout/act-button.tsx'
import { PageSkeleton } from '../layout/page-skeleton.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { Section } from '../layout/section.tsx'
import { useNotifyError } from '../layout/use-notify-error.tsx'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useViewer } from '../viewer.tsx'
import { ItemRow } from './item-row.tsx'
import { MANNER } from './manner.ts'
import { type Item, outcomesText, resultOf, type Run, RUNS, type RunWithItems } from './run.ts'
import { useActors } from './use-actors.ts'

const DifferenceChart = lazy(async () =>
  await loaded(async () => ({ default: (await import('./difference-chart.tsx')).DifferenceChart }))
)

/** How many items are on a page of the screen, and in one read of the file. */
const PER_PAGE = 25
const PER_READ = 500

/**
 * One run: watched while it goes on, and what it found, with what can be done about it. Filters are of this run alone.
 */
export function RunPage () {
  const { id = '' } = useParams()
  return <RunWithId key={id} id={id} />
}

function RunWithId ({ id }: { readonly id: string }) {
  const { call, shops } = useViewer()
  const notifyError = useNotifyError()
  const basename = useBasename()
  const navigate = useNavigate()
  const [difference, setDifference] = useState<string>()
  const [outcome, setOutcome] = useState<string>()
  const [since, setSince] = useState('')
  const [page, setPage] = useState(0)
  const query = new URLSearchParams({
    skip: String(page * PER_PAGE),
    limit: String(PER_PAGE),
    ...difference !== undefined && { differences: difference },
    ...outcome !== undefined && { outcome },
    ...since !== '' && { since }
  })
  const { data: run, error, refetch } = useQuery({
    queryKey: ['run', id, String(query)],
    queryFn: async () => (await call<RunWithItems>(`${RUNS}/${encodeURIComponent(id)}?${query}`)).json,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => state.data === undefined || isGoing(state.data) ? 700 : false
  })
  const earlier = useEarlierRuns(run)
  const nameOf = useActors(run === undefined ? [] : [run.actor])
  const progress = run === undefined
    ? ''
    : texts.reconcile.done(run.processed, run.total, run.shops.finished, run.shops.total)
  useAnnounceProgress(
    run === undefined || run.total === 0 ? undefined : run.processed / run.total,
    `${texts.reconcile.states[run?.status ?? ''] ?? ''}, ${progress}`
  )
  if (run === undefined && error !== null) return <NoRecord error={error} />
  if (run === undefined) return <PageSkeleton />

  const { changes, isInOrder } = resultOf(run)
  const found = isInOrder
    ? texts.reconcile.nothing
    : outcomesText(run) || (isGoing(run) ? texts.reconcile.nothingYet : texts.reconcile.notChecked)
  const stop = async () => {
    await call(`${RUNS}/${run.id}`, { method: 'DELETE' }).finally(async () => await refetch())
  }
  const readItems = async () => {
    const items: Item[] = []
    for (let isMore = true; isMore;) {
      const { json } = await call<RunWithItems>(`${RUNS}/${run.id}?skip=${items.length}&limit=${PER_READ}`)
      items.push(...json.items)
      isMore = json.items.length > 0 && items.length < json.items_count
    }
    return items
  }
  const apply = async () => {
    const { mode, shop_id: shopId, selection: { accounts, ...selection } } = run
    // Of accounts that were named, the server keeps their number.
    const named = accounts === undefined ? {} : { accounts: (await readItems()).map(({ account_id: id }) => id) }
    const { json: { id } } = await call<Run>(RUNS, {
      method: 'POST',
      data: { mode, ...shopId !== null && { shop_id: shopId }, ...selection, ...named, dry_run: false }
    })
    navigate(`${basename}/reconciliation/${id}`)
  }
  const save = async () => {
    const items = await readItems()
    download(
      `run-${run.id}.csv`,
      csvFrom([
        'shop_name',
        'account_id',
        'account_name',
        'outcome',
        'differences',
        'before',
        'after',
        'reason',
        'error_code',
        'fields',
        'candidates'
      ], items as never)
    )
  }
  const pick = (set: (value: string | undefined) => void, name: string, current: string | undefined) => () => {
    set(current === name ? undefined : name)
    setPage(0)
  }
  const chips = (
    counts: Readonly<Record<string, number>>,
    names: Readonly<Record<string, string>>,
    current: string | undefined,
    set: (value: string | undefined) => void
  ) =>
    Object.entries(counts).filter(([name]) => name !== 'unchanged').map(([name, count]) => (
      <CountChip
        key={name}
        isChosen={current === name}
        label={`${names[name] ?? name} (${count})`}
        onClick={pick(set, name, current)}
      />
    ))
  return (
    <>
      <PageHeading
        title={texts.reconcile.modes[run.mode] ?? run.mode}
        text={`${timeText(run.started_at, MANNER)} · ${isolated(nameOf(run.actor))} · ` +
          `${texts.reconcile.states[run.status] ?? run.status}${
            run.dry_run && run.mode !== 'check' ? ` · ${texts.reconcile.dry}` : ''
          }`}
      >
        {isGoing(run) && (
          <ActButton variant='outlined' disabled={run.cancel_requested} act={stop}>{texts.reconcile.stop}</ActButton>
        )}
        {!isGoing(run) && run.dry_run && changes > 0 && run.selection['accept'] === undefined && (
          <ActButton
            variant='contained'
            question={{ title: texts.reconcile.applyTitle(changes), why: texts.reconcile.realWhy[run.mode] }}
            act={apply}
          >
            {texts.reconcile.apply}
          </ActButton>
        )}
        <Button
          disabled={run.items_count === 0}
          onClick={() => {
            save().catch(notifyError)
          }}
        >
          {texts.list.export}
        </Button>
      </PageHeading>
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', md: '1fr 1fr' },
          mb: 2,
          alignItems: 'start'
        }}
      >
        <Section title={texts.reconcile.progress}>
          {isGoing(run) && (
            <LinearProgress
              variant='determinate'
              value={run.total === 0 ? 100 : run.processed / run.total * 100}
              aria-label={texts.reconcile.progress}
              sx={{ height: 8, borderRadius: 4, my: 1 }}
            />
          )}
          <Typography>{progress}</Typography>
          {run.shops.stopped.map(({ shop_id: shopId, reason }) => (
            <Alert key={shopId} severity='warning' sx={{ mt: 1 }}>
              <b>{shops.find((shop) => shop.id === shopId)?.name ?? shopId}</b>:{' '}
              {texts.reconcile.reasons[reason] ?? reason}
            </Alert>
          ))}
        </Section>
        <Section title={texts.reconcile.found}>
          {Object.keys(run.differences).length > 0
            ? (
              <Suspense fallback={<Box sx={{ height: 200 }} />}>
                <DifferenceChart differences={run.differences} />
              </Suspense>
            )
            : <Typography color='textSecondary'>{found}</Typography>}
        </Section>
      </Box>
      <Card>
        <Box role='group' aria-label={texts.reconcile.found} sx={{ p: 2, display: 'flex', gap: 1, flexWrap: 'wrap' }}>
          {chips(run.outcomes, texts.reconcile.outcomes, outcome, setOutcome)}
          {chips(run.differences, texts.reconcile.differences, difference, setDifference)}
          {earlier.length > 0 && (
            <TextField
              select
              fullWidth={false}
              margin='none'
              label={texts.reconcile.news}
              value={since}
              onChange={({ target }) => {
                setSince(target.value)
                setPage(0)
              }}
              sx={{ minWidth: 230, ml: { md: 'auto' } }}
              slotProps={{ inputLabel: { shrink: true }, select: { displayEmpty: true } }}
            >
              <MenuItem value=''>{texts.reconcile.newsAll}</MenuItem>
              {earlier.map(({ id, started_at: at }) => (
                <MenuItem key={id} value={id}>{texts.reconcile.newsSince(timeText(at, MANNER))}</MenuItem>
              ))}
            </TextField>
          )}
        </Box>
        {run.items.length === 0 && !isGoing(run) && (
          <EmptyState title={since === '' ? found : texts.reconcile.nothingNew} />
        )}
        <Box component='ul' sx={{ listStyle: 'none', m: 0, p: 0 }}>
          {run.items.map((item) => <ItemRow key={item.id} item={item} />)}
        </Box>
        <TablePagination
          component='div'
          count={run.items_count}
          page={page}
          rowsPerPage={PER_PAGE}
          rowsPerPageOptions={[PER_PAGE]}
          onPageChange={(_event, page) => setPage(page)}
        />
      </Card>
    </>
  )
}

/** How many earlier runs can be compared with. */
const EARLIER = 20

/** Earlier runs of the same mode and shop that came to their end, the newest first. */
function useEarlierRuns (run: Run | undefined): readonly Run[] {
  const { call } = useViewer()
  const { data = [] } = useQuery({
    queryKey: ['runs', 'earlier', run?.id],
    enabled: run !== undefined,
    queryFn: async () =>
      (await call<readonly Run[]>(listUrl(RUNS, { limit: EARLIER, filter: { mode: run!.mode, status: 'done' } }))).json
  })
  return data.filter((other) => other.shop_id === run?.shop_id && other.started_at < run.started_at)
}

function isGoing ({ finished_at: end }: { readonly finished_at: string | null }): boolean {
  return end === null
}
