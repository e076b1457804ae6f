import { Alert, Button, Table, TableBody, TableCell, TableHead, TableRow, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { KeyLink } from '../agents/key-link.tsx'
import { Section } from '../layout/section.tsx'
import { texts } from '../texts.ts'
import { countText, dateText, timeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { LimitsDialog } from './limits-dialog.tsx'
import { COUNTED, type Counts, daysOf, reachedOf, type Usage } from './usage.ts'

/** How often it is read again, in milliseconds. */
const EVERY = 30_000

/** How many keys are named. */
const MOST = 5

/**
 * How much the shop was used by day, and how much it may be.
 *
 * @param keyId - of one of its API keys, which is meant instead
 */
export function UsageSection ({ keyId }: { readonly keyId?: string }) {
  const { call, isAdmin } = useViewer()
  const shop = useShop()
  const path = keyId === undefined ? `/shops/${shop.id}` : `/shops/${shop.id}/api-keys/${keyId}`
  const { data } = useQuery({
    queryKey: ['usage', path],
    queryFn: async () => (await call<Usage>(`${path}/usage`)).json,
    refetchInterval: EVERY,
    refetchOnMount: 'always'
  })
  const [isSetting, setSetting] = useState(false)
  if (data === undefined) return <Section title={texts.usage.title}>{null}</Section>
  const reached = reachedOf(data).map((name) => texts.usage.names[name])
  const end = timeText(data.resets_at, shop)
  return (
    <Section
      title={texts.usage.title}
      text={texts.usage.ends(end)}
      action={isAdmin && <Button size='small' onClick={() => setSetting(true)}>{texts.usage.set}</Button>}
    >
      {reached.length > 0 && <Alert severity='warning' sx={{ mb: 1 }}>{texts.usage.reached(reached.join(', '))}</Alert>}
      <CountTable name={texts.usage.day}>
        <Row
          name={texts.usage.limit}
          values={COUNTED.map((name) => {
            const limit = data.limits[`${name}_per_day`]
            return limit === null ? texts.usage.none : countText(limit, shop.locale)
          })}
        />
        {daysOf(data).map(({ day, ...counts }) => (
          <CountRow
            key={day}
            name={dateText(`${day}T12:00:00Z`, { locale: shop.locale, timeZone: 'UTC' })}
            counts={counts}
          />
        ))}
      </CountTable>
      {data.keys !== undefined && data.keys.length > 0 && (
        <>
          <Typography variant='h3' component='h3' sx={{ mt: 2 }}>{texts.usage.today}</Typography>
          <CountTable name={texts.usage.key}>
            {data.keys.slice(0, MOST).map(({ key_id: id, name, today }) => (
              <CountRow key={id} name={<KeyLink keyId={id}>{name}</KeyLink>} counts={today} />
            ))}
          </CountTable>
          {data.keys.length > MOST && (
            <Typography variant='body2' color='textSecondary'>{texts.filters.more(data.keys.length - MOST)}</Typography>
          )}
        </>
      )}
      {isSetting && <LimitsDialog path={path} keyId={keyId} limits={data.limits} onClose={() => setSetting(false)} />}
    </Section>
  )
}

function CountTable ({ name, children }: { readonly name: string, readonly children: ReactNode }) {
  return (
    <Table
      size='small'
      aria-label={name}
      sx={{ tableLayout: 'fixed', '& th, & td': { px: 0.5 }, '& th:first-of-type': { width: '40%' } }}
    >
      <TableHead>
        <TableRow>
          {[name, ...COUNTED.map((counted) => texts.usage.columns[counted])].map((column, index) => (
            <TableCell key={column} align={index === 0 ? 'left' : 'right'}>{column}</TableCell>
          ))}
        </TableRow>
      </TableHead>
      <TableBody>{children}</TableBody>
    </Table>
  )
}

function CountRow ({ name, counts }: { readonly name: ReactNode, readonly counts: Counts }) {
  const { locale } = useShop()
  return <Row name={name} values={COUNTED.map((counted) => countText(counts[counted], locale))} />
}

function Row ({ name, values }: { readonly name: ReactNode, readonly values: readonly string[] }) {
  return (
    <TableRow>
      <TableCell component='th' scope='row' sx={{ overflowWrap: 'anywhere' }}>{name}</TableCell>
      {values.map((value, index) => <TableCell key={COUNTED[index]} align='right'>{value}</TableCell>)}
    </TableRow>
  )
}
