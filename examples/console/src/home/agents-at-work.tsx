import { Box, Skeleton, Table, TableBody, TableCell, TableHead, TableRow } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { KeyLink } from '../agents/key-link.tsx'
import { Section } from '../layout/section.tsx'
import { loaded } from '../loaded.ts'
import { UNSEEN } from '../layout/unseen.ts'
import { texts } from '../texts.ts'
import { countText } from '../times.ts'
import { useViewer } from '../viewer.tsx'
import { durationText, type ToolCalls } from './tool-calls.ts'

const ToolsChart = lazy(async () =>
  await loaded(async () => ({ default: (await import('./tools-chart.tsx')).ToolsChart }))
)

/** How often the page reads what agents do again, in milliseconds. */
export const EVERY = 30_000

/**
 * What agents did in the last 24 hours: calls, errors and durations by tool.
 *
 * @param path - of the report: of a shop, or of all
 */
export function AgentsAtWork ({ path, locale }: { readonly path: string, readonly locale: string }) {
  const { call } = useViewer()
  const { data } = useQuery({
    queryKey: ['tool-calls', path],
    queryFn: async () => (await call<ToolCalls>(path)).json,
    refetchInterval: EVERY,
    refetchOnMount: 'always'
  })
  return (
    <Section title={texts.home.atWork} text={data === undefined ? texts.home.agentsWhy : callsText(data, locale)}>
      {data !== undefined && data.calls > 0 && (
        <>
          <Errors of={data} locale={locale} />
          <Suspense fallback={<Skeleton variant='rounded' height={200} />}>
            <ToolsChart tools={data.tools} locale={locale} />
          </Suspense>
          <Table sx={{ ...UNSEEN, display: 'block' }} aria-label={texts.home.atWork}>
            <TableHead>
              <TableRow>{texts.home.toolColumns.map((name) => <TableCell key={name}>{name}</TableCell>)}</TableRow>
            </TableHead>
            <TableBody>
              {data.tools.map(({ tool, calls, errors, p50_ms: p50, p99_ms: p99 }) => (
                <TableRow key={tool}>
                  <TableCell component='th' scope='row'>{tool}</TableCell>
                  <TableCell>{calls}</TableCell>
                  <TableCell>{errors}</TableCell>
                  <TableCell>{durationText(p50, locale)}</TableCell>
                  <TableCell>{durationText(p99, locale)}</TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
        </>
      )}
    </Section>
  )
}

/** How many keys are named. */
const MOST = 5

function callsText ({ calls, errors }: ToolCalls, locale: string): string {
  if (calls === 0) return texts.home.noAgents
  return texts.home.calls(countText(calls, locale), countText(errors, locale), calls, errors)
}

/** Whose the errors are, which leads to the page of each key. Of all shops the server tells no keys. */
function Errors ({ of: { errors, keys }, locale }: { readonly of: ToolCalls, readonly locale: string }) {
  if (keys === undefined || errors === 0) return null
  const failing = keys.filter(({ errors }) => errors > 0)
  const others = errors - failing.reduce((sum, { errors }) => sum + errors, 0)
  return (
    <Box
      component='ul'
      sx={{
        m: 0,
        mb: 1,
        p: 0,
        listStyle: 'none',
        display: 'flex',
        flexWrap: 'wrap',
        columnGap: 3,
        rowGap: 0.5,
        typography: 'body2',
        overflowWrap: 'anywhere'
      }}
    >
      {failing.slice(0, MOST).map(({ key_id: id, name, errors }) => (
        <li key={id}>
          <KeyLink keyId={id}>{texts.home.errorsOf(errors, countText(errors, locale), name)}</KeyLink>
        </li>
      ))}
      {failing.length > MOST && <li>{texts.filters.more(failing.length - MOST)}</li>}
      {others > 0 && <li>{texts.home.errorsOfOthers(others, countText(others, locale))}</li>}
    </Box>
  )
}
