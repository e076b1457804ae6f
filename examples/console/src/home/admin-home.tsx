import { Box, Button, Card, CardActionArea, CardContent, Chip, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Link } from 'react-router-dom'
import { listUrl } from '../api/http.ts'
import { loaded } from '../loaded.ts'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { PageHeading } from '../layout/page.tsx'
import { PageLink } from '../layout/page-link.tsx'
import { Section } from '../layout/section.tsx'
import { MANNER } from '../reconcile/manner.ts'
import { type PayState, payStateOf } from '../people/pay-state.ts'
import { type Run, RUNS } from '../reconcile/run.ts'
import { texts } from '../texts.ts'
import { agoText, countText } from '../times.ts'
import { type Shop, useViewer } from '../viewer.tsx'
import { AgentsAtWork } from './agents-at-work.tsx'
import type { Summary } from './summary.ts'

const DifferenceChart = lazy(async () =>
  await loaded(async () => ({ default: (await import('../reconcile/difference-chart.tsx')).DifferenceChart }))
)

/** How many shops are on this page. */
const SHOWN = 10

interface Row {
  readonly shop: Shop
  readonly products: number
  readonly keys: number
  readonly accounts: number
  readonly unlinked: number
  readonly pay: { readonly configured: boolean, readonly readable: boolean }
}

/** All shops at a glance, and the accounts that need attention. */
const PAY_COLORS: Readonly<Record<PayState, 'warning' | 'success' | 'error'>> = {
  none: 'warning',
  set: 'success',
  unreadable: 'error'
}
const PAY_LABELS: Readonly<Record<PayState, string>> = {
  none: texts.home.pay.none,
  set: texts.home.pay.ok,
  unreadable: texts.home.pay.unreadable
}

export function AdminHome () {
  const { call, name, shops } = useViewer()
  const rows = useQuery({
    queryKey: ['shops', 'counts'],
    queryFn: async () =>
      await Promise.all(
        shops.slice(0, SHOWN).map(async (shop): Promise<Row> => {
          const root = `/shops/${shop.id}`
          const [{ json: { products, api_keys: keys, accounts } }, pay] = await Promise.all([
            call<Summary>(`${root}/summary`),
            call<Row['pay']>(`${root}/pay/status`)
          ])
          return {
            shop,
            products: products.all,
            keys: keys.active,
            accounts: accounts.all,
            unlinked: accounts.unlinked,
            pay: pay.json
          }
        })
      )
  })
  const lastCheck = useQuery({
    queryKey: ['runs', 'last'],
    queryFn: async () =>
      (await call<readonly Run[]>(listUrl(RUNS, { limit: 1, filter: { mode: 'check', status: 'done' } }))).json[0] ??
        null
  })
  const sum = (field: 'products' | 'keys' | 'accounts' | 'unlinked') =>
    rows.data?.reduce((total, row) => total + row[field], 0)
  return (
    <>
      <PageHeading title={texts.layout.administration} windowTitle={texts.menu.home} text={texts.home.welcome(name)} />
      <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: { xs: '1fr 1fr', lg: 'repeat(4, 1fr)' }, mb: 2 }}>
        <Tile title={texts.menu.shops} value={shops.length} to='/admin/shops' />
        <Tile title={texts.home.products} value={sum('products')} />
        <Tile title={texts.home.keys} value={sum('keys')} />
        <Tile title={texts.home.unlinkedAccounts} value={sum('unlinked')} to='/admin/reconciliation' isWarning />
      </Box>
      <Box sx={{ mb: 2 }}>
        <AgentsAtWork path='/admin/tool-calls' locale={MANNER.locale} />
      </Box>
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'minmax(0, 2fr) minmax(0, 1fr)' },
          alignItems: 'start'
        }}
      >
        <Section title={texts.menu.shops}>
          <FoldingTable
            name={texts.menu.shops}
            foldsBelow={550}
            columns={texts.home.shopColumns.map((name, index) => ({
              name,
              ...index > 0 && index < 4 && { align: 'right' as const }
            }))}
          >
            {rows.data?.map(({ shop, products, keys, accounts, unlinked, pay }) => (
              <FoldingRow key={shop.id}>
                <PageLink to={`/shops/${shop.slug}`}>{shop.name}</PageLink>
                {products}
                {keys}
                {`${accounts} (${unlinked})`}
                <Chip
                  size='small'
                  variant='outlined'
                  color={PAY_COLORS[payStateOf(pay)]}
                  label={PAY_LABELS[payStateOf(pay)]}
                />
              </FoldingRow>
            ))}
          </FoldingTable>
        </Section>
        <Section
          title={texts.home.attention}
          action={<Button size='small' component={Link} to='/admin/reconciliation'>{texts.menu.runs}</Button>}
        >
          {lastCheck.data === null && <Typography color='textSecondary'>{texts.home.neverChecked}</Typography>}
          {lastCheck.data != null && (
            <>
              <Typography variant='body2' color='textSecondary'>
                <PageLink to={`/admin/reconciliation/${lastCheck.data.id}`}>{texts.home.lastCheck}</PageLink>{' '}
                {agoText(lastCheck.data.started_at, MANNER)}
              </Typography>
              <Suspense>
                <DifferenceChart differences={lastCheck.data.differences} />
              </Suspense>
            </>
          )}
        </Section>
      </Box>
    </>
  )
}

function Tile (
  { title, value, to, isWarning = false }: {
    readonly title: string,
    readonly value: number | undefined,
    readonly to?: string,
    readonly isWarning?: boolean
  }
) {
  const content = (
    <CardContent>
      <Typography variant='body2' color='textSecondary'>{title}</Typography>
      <Typography
        component='p'
        sx={{
          fontSize: '1.9rem',
          fontWeight: 650,
          lineHeight: 1.3,
          color: isWarning && (value ?? 0) > 0 ? 'warning.main' : undefined
        }}
      >
        {value === undefined ? '…' : countText(value, MANNER.locale)}
      </Typography>
    </CardContent>
  )
  return <Card>{to === undefined ? content : <CardActionArea component={Link} to={to}>{content}</CardActionArea>}</Card>
}
