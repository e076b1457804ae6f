import { Alert, Box, Button, Card, CardActionArea, CardContent, Skeleton, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { ActivityLine } from '../activity/activity-line.tsx'
import { loaded } from '../loaded.ts'
import type { Entry } from '../activity/entry.ts'
import { listUrl } from '../api/http.ts'
import { PageHeading } from '../layout/page.tsx'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { countText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { AgentsAtWork, EVERY } from './agents-at-work.tsx'
import type { Summary } from './summary.ts'

const DaysChart = lazy(async () =>
  await loaded(async () => ({ default: (await import('./days-chart.tsx')).DaysChart }))
)

/** How many entries of the activity are on this page. */
const RECENT = 6

/** What matters in the shop today. */
export function ShopHome () {
  const { call, name } = useViewer()
  const { id, name: shopName, isOwner, locale } = useShop()
  const basename = useBasename()
  const root = `/shops/${id}`
  const { data } = useQuery({
    queryKey: ['products', 'orders', 'api-keys', 'accounts', 'counts'],
    queryFn: async () => (await call<Summary>(`${root}/summary`)).json
  })
  const recent = useQuery({
    queryKey: ['history', 'recent'],
    queryFn: async () =>
      (await call<readonly Entry[]>(listUrl(`${root}/history`, { limit: RECENT, sort: '-at' }))).json,
    refetchInterval: EVERY
  })
  const to = (path: string, filter?: object) =>
    `${basename}/${path}${filter === undefined ? '' : `?filter=${encodeURIComponent(JSON.stringify(filter))}`}`
  return (
    <>
      <PageHeading title={shopName} windowTitle={texts.menu.home} text={texts.home.welcome(name)} />
      <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: { xs: '1fr 1fr', lg: 'repeat(4, 1fr)' }, mb: 2 }}>
        <Tile
          title={texts.home.products}
          value={data?.products.active}
          unit={texts.home.active}
          more={data && texts.home.drafts(data.products.draft)}
          to={to('products')}
        />
        <Tile
          title={texts.home.orders}
          value={data?.orders.pending}
          unit={texts.home.pending}
          more={data && texts.home.inAll(data.orders.all)}
          to={to('orders')}
        />
        <Tile
          title={texts.home.keys}
          value={data?.api_keys.active}
          more={data && texts.home.expiring(data.api_keys.expiring)}
          isWarning={(data?.api_keys.expiring ?? 0) > 0}
          to={to('api-keys')}
        />
        <Tile
          title={texts.home.accounts}
          value={data?.accounts.all}
          more={data && `${data.accounts.unlinked} ${texts.home.unlinked}`}
          isWarning={(data?.accounts.unlinked ?? 0) > 0}
          to={to('accounts')}
        />
      </Box>
      {isOwner && data?.api_keys.active === 0 && (
        <Alert
          severity='info'
          sx={{ mb: 2 }}
          action={<Button component={Link} to={to('api-keys')} color='inherit'>{texts.keys.create}</Button>}
        >
          <b>{texts.home.first}.</b> {texts.home.firstWhy}
        </Alert>
      )}
      <Box sx={{ mb: 2 }}>
        <AgentsAtWork path={`${root}/tool-calls`} locale={locale} />
      </Box>
      <Box
        sx={{
          display: 'grid',
          gap: 2,
          gridTemplateColumns: { xs: 'minmax(0, 1fr)', lg: 'minmax(0, 3fr) minmax(0, 2fr)' },
          alignItems: 'start'
        }}
      >
        <Section title={texts.home.changes} text={texts.home.changesWhy}>
          <Box sx={{ minHeight: 260 }}>
            {data !== undefined && (
              <Suspense fallback={<Skeleton variant='rounded' height={240} />}>
                <DaysChart days={data.days} />
              </Suspense>
            )}
          </Box>
        </Section>
        <Section
          title={texts.home.recent}
          action={<Button size='small' component={Link} to={to('history')}>{texts.home.all}</Button>}
        >
          <Box component='ol' sx={{ listStyle: 'none', m: 0, p: 0, mx: -2.5 }}>
            {recent.data?.map((entry) => <ActivityLine key={entry.id} entry={entry} />)}
          </Box>
          {recent.data?.length === 0 && <Typography color='textSecondary'>{texts.activity.empty}</Typography>}
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
            {value === undefined ? <Skeleton width={60} /> : countText(value, locale)}
            {unit !== undefined && <Typography component='span' color='textSecondary'>{` ${unit}`}</Typography>}
          </Typography>
          <Typography variant='body2' sx={{ color: isWarning ? 'warning.main' : 'text.secondary' }}>
            {more ?? <Skeleton width={100} />}
          </Typography>
        </CardContent>
      </CardActionArea>
    </Card>
  )
}
