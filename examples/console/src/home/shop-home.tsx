import { Alert, Box, Button, Card, CardActionArea, CardContent, Skeleton, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { ActivityEntry } from '../activity/activity-entry.tsx'
import { loaded } from '../loaded.ts'
import type { Entry } from '../activity/entry.ts'
import { type ApiKey, endsSoon } from '../agents/key.ts'
import { type Call, listUrl, rangeFrom, readAll } from '../api/http.ts'
import { PageHeading } from '../layout/page.tsx'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { AgentsAtWork } from './agents-at-work.tsx'

const DaysChart = lazy(async () => await loaded(async () => ({ default: (await import('./days-chart.tsx')).DaysChart })))

/** How many days the chart shows, and how many changes it counts at most. */
const DAYS = 14
const MOST_CHANGES = 2000
/** How many entries of the activity are on this page. */
const RECENT = 6

/** How many records of a list match a filter. */
async function count (call: Call, path: string, filter: object = {}): Promise<number> {
  return rangeFrom((await call(listUrl(path, { limit: 1, filter }))).headers).total
}

/** What matters in the shop today. */
export function ShopHome () {
  const { call, name } = useViewer()
  const { id, name: shopName, isOwner, locale } = useShop()
  const basename = useBasename()
  const root = `/shops/${id}`
  const counts = useQuery({
    queryKey: ['products', 'orders', 'api-keys', 'accounts', 'counts'],
    queryFn: async () => {
      const [active, draft, orders, pending, keys, accounts, unlinked] = await Promise.all([
        count(call, `${root}/products`, { status: ['active'] }), count(call, `${root}/products`, { status: ['draft'] }), count(call, `${root}/orders`), count(call, `${root}/orders`, { status: ['pending'] }),
        readAll<ApiKey>(call, `${root}/api-keys/`, { filter: { status: 'active' } }), count(call, `${root}/accounts`), count(call, `${root}/accounts`, { missing_pay: true })
      ])
      return { active, draft, orders, pending, keys: keys.total, expiring: keys.rows.filter((key) => endsSoon(key)).length, accounts, unlinked }
    }
  })
  const changes = useQuery({
    queryKey: ['history', 'days'],
    queryFn: async () => await readAll<Entry>(call, `${root}/history`, { filter: { at_gte: new Date(Date.now() - DAYS * 86_400_000).toISOString() }, sort: '-at' }, MOST_CHANGES)
  })
  const { data } = counts
  const to = (path: string, filter?: object) => `${basename}/${path}${filter === undefined ? '' : `?filter=${encodeURIComponent(JSON.stringify(filter))}`}`
  return (
    <>
      <PageHeading title={shopName} windowTitle={texts.menu.home} text={texts.home.welcome(name)} />
      {counts.error !== null && <Alert severity='error' sx={{ mb: 2 }}>{counts.error.message}</Alert>}
      <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: { xs: '1fr 1fr', lg: 'repeat(4, 1fr)' }, mb: 2 }}>
        <Tile title={texts.home.products} value={data?.active} unit={texts.home.active} more={data && `${data.draft} ${texts.home.drafts}`} to={to('products')} />
        <Tile title={texts.home.orders} value={data?.pending} unit={texts.home.pending} more={data && texts.home.inAll(data.orders)} to={to('orders')} />
        <Tile title={texts.home.keys} value={data?.keys} more={data && `${data.expiring} ${texts.home.expiring}`} isWarning={(data?.expiring ?? 0) > 0} to={to('api-keys')} />
        <Tile title={texts.home.accounts} value={data?.accounts} more={data && `${data.unlinked} ${texts.home.unlinked}`} isWarning={(data?.unlinked ?? 0) > 0} to={to('accounts')} />
      </Box>
      {isOwner && data?.keys === 0 && (
        <Alert severity='info' sx={{ mb: 2 }} action={<Button component={Link} to={to('api-keys')} color='inherit'>{texts.keys.create}</Button>}>
          <b>{texts.home.first}.</b> {texts.home.firstWhy}
        </Alert>
      )}
      <Box sx={{ mb: 2 }}><AgentsAtWork path={`${root}/tool-calls`} locale={locale} /></Box>
      <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'minmax(0, 3fr) minmax(0, 2fr)' }, alignItems: 'start' }}>
        <Section title={texts.home.changes} text={texts.home.changesWhy}>
          <Box sx={{ minHeight: 260 }}>
            {changes.error !== null && <Alert severity='error'>{changes.error.message}</Alert>}
            {changes.data !== undefined && <Suspense fallback={<Skeleton variant='rounded' height={240} />}><DaysChart changes={changes.data.rows} days={DAYS} /></Suspense>}
          </Box>
          {changes.data !== undefined && changes.data.total > changes.data.rows.length && <Typography variant='caption' color='textSecondary'>{texts.home.partial(changes.data.rows.length)}</Typography>}
        </Section>
        <Section title={texts.home.recent} action={<Button size='small' component={Link} to={to('history')}>{texts.home.all}</Button>}>
          <Box component='ol' sx={{ listStyle: 'none', m: 0, p: 0, mx: -2.5 }}>
            {changes.data?.rows.slice(0, RECENT).map((entry) => <ActivityEntry key={entry.id} entry={entry} isBrief />)}
          </Box>
          {changes.data?.rows.length === 0 && <Typography color='textSecondary'>{texts.activity.empty}</Typography>}
        </Section>
      </Box>
    </>
  )
}

interface TileProps {
  readonly title: string
  readonly value: number | undefined
  readonly unit?: string
  readonly more: string | undefined
  readonly isWarning?: boolean
  readonly to: string
}

/** One number, which leads to what it counts. */
function Tile ({ title, value, unit, more, isWarning = false, to }: TileProps) {
  const { locale } = useShop()
  return (
    <Card>
      <CardActionArea component={Link} to={to} sx={{ height: '100%' }}>
        <CardContent>
          <Typography variant='body2' color='textSecondary'>{title}</Typography>
          <Typography component='p' sx={{ fontSize: '1.9rem', fontWeight: 650, lineHeight: 1.3 }}>
            {value === undefined ? <Skeleton width={60} /> : new Intl.NumberFormat(locale).format(value)}
            {unit !== undefined && <Typography component='span' color='textSecondary'>{` ${unit}`}</Typography>}
          </Typography>
          <Typography variant='body2' sx={{ color: isWarning ? 'warning.main' : 'text.secondary' }}>{more ?? <Skeleton width={100} />}</Typography>
        </CardContent>
      </CardActionArea>
    </Card>
  )
}
