import { useTheme } from '@mui/material'
import { BarChart } from '@mui/x-charts/BarChart'
import { texts } from '../texts.ts'
import { inLanguage } from '../times.ts'
import type { DayOfCalls } from './key-use.ts'

/** The calls of each day: those that succeeded, and errors. */
export function CallsChart ({ days, locale }: { readonly days: readonly DayOfCalls[], readonly locale: string }) {
  const { palette } = useTheme()
  const short = new Intl.DateTimeFormat(inLanguage(locale), { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return (
    <BarChart
      height={220}
      skipAnimation
      grid={{ horizontal: true }}
      borderRadius={3}
      margin={{ left: 0 }}
      xAxis={[{ scaleType: 'band', data: days.map(({ day }) => short.format(new Date(day))), categoryGapRatio: 0.4 }]}
      yAxis={[{ width: 40, tickMinStep: 1 }]}
      series={[
        {
          data: days.map(({ calls, errors }) => calls - errors),
          label: texts.home.succeeded,
          stack: 'all',
          color: palette.primary.main
        },
        { data: days.map(({ errors }) => errors), label: texts.home.errors, stack: 'all', color: palette.error.main }
      ]}
    />
  )
}
