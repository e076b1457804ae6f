import { Box, Card, Chip, FormControlLabel, MenuItem, Switch, TextField } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useBasename } from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { ActButton } from '../layout/act-button.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { PageLink } from '../layout/page-link.tsx'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useViewer } from '../viewer.tsx'
import { MANNER } from './manner.ts'
import { outcomesText, type Run, RUNS } from './run.ts'
import { useActors } from './use-actors.ts'

/** How many runs are shown. */
const SHOWN = 50

/** Past runs, and a new one. */
export function RunsPage () {
  const { call, shops } = useViewer()
  const basename = useBasename()
  const { data } = useQuery({
    queryKey: ['runs'],
    queryFn: async () => (await call<readonly Run[]>(`${RUNS}?limit=${SHOWN}`)).json,
    refetchInterval: 3000
  })
  const nameOf = useActors(data?.map(({ actor }) => actor) ?? [])
  const shopName = (id: string | null) =>
    id === null ? texts.reconcile.allShops : shops.find((shop) => shop.id === id)?.name ?? id
  return (
    <>
      <PageHeading title={texts.reconcile.title} text={texts.reconcile.why} />
      <StartRun />
      <Card sx={{ mt: 2 }}>
        {data?.length === 0 && <EmptyState title={texts.reconcile.noRuns} text={texts.reconcile.noRunsWhy} />}
        {data !== undefined && data.length > 0 && (
          <FoldingTable
            name={texts.menu.runs}
            foldsBelow={760}
            columns={texts.reconcile.columns.map((name) => ({ name }))}
          >
            {data.map((run) => (
              <FoldingRow key={run.id}>
                <PageLink to={`${basename}/reconciliation/${run.id}`}>{timeText(run.started_at, MANNER)}</PageLink>
                <bdi>{nameOf(run.actor)}</bdi>
                <>
                  {texts.reconcile.modes[run.mode] ?? run.mode}
                  {run.dry_run && run.mode !== 'check' && (
                    <Chip size='small' label={texts.reconcile.dry} sx={{ ml: 1 }} />
                  )}
                </>
                <bdi>{shopName(run.shop_id)}</bdi>
                {texts.reconcile.states[run.status] ?? run.status}
                {`${run.processed} / ${run.total}`}
                {outcomesText(run)}
              </FoldingRow>
            ))}
          </FoldingTable>
        )}
      </Card>
    </>
  )
}

function StartRun () {
  const { call, shops } = useViewer()
  const basename = useBasename()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [mode, setMode] = useState<string>('check')
  const [shop, setShop] = useState('')
  const [isReal, setReal] = useState(false)
  const start = async () => {
    const { json: { id } } = await call<Run>(RUNS, {
      method: 'POST',
      data: { mode, ...shop !== '' && { shop_id: shop }, ...mode !== 'check' && { dry_run: !isReal } }
    })
    // The list from before lacks it.
    queryClient.removeQueries({ queryKey: ['runs'] })
    navigate(`${basename}/reconciliation/${id}`)
  }
  const question = {
    title: texts.reconcile.realTitle(shops.find(({ id }) => id === shop)?.name),
    why: texts.reconcile.realWhy[mode]
  }
  return (
    <Section title={texts.reconcile.start}>
      <Box sx={{ display: 'flex', gap: 1.5, flexWrap: 'wrap', alignItems: 'center' }}>
        <TextField
          select
          fullWidth={false}
          label={texts.reconcile.what}
          value={mode}
          onChange={({ target }) => setMode(target.value)}
          sx={{ minWidth: 260 }}
        >
          {['check', 'link', 'sync'].map((mode) => (
            <MenuItem key={mode} value={mode}>{texts.reconcile.modes[mode]}</MenuItem>
          ))}
        </TextField>
        <TextField
          select
          fullWidth={false}
          label={texts.reconcile.shop}
          value={shop}
          onChange={({ target }) => setShop(target.value)}
          sx={{ minWidth: 200 }}
          slotProps={{ inputLabel: { shrink: true }, select: { displayEmpty: true } }}
        >
          <MenuItem value=''>{texts.reconcile.allShops}</MenuItem>
          {shops.map(({ id, name }) => <MenuItem key={id} value={id}>{name}</MenuItem>)}
        </TextField>
        {mode !== 'check' && (
          <FormControlLabel
            control={
              <Switch
                checked={isReal}
                onChange={({ target }) => setReal(target.checked)}
              />
            }
            label={texts.reconcile.real}
          />
        )}
        <ActButton variant='contained' act={start} {...isReal && mode !== 'check' && { question }}>
          {texts.reconcile.run}
        </ActButton>
      </Box>
    </Section>
  )
}
