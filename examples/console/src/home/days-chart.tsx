import { useTheme } from '@mui/material'
import { BarChart } from '@mui/x-charts/BarChart'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'
import { inLanguage } from '../times.ts'
import type { Day } from './summary.ts'

/** Changes of each day, by agents, people and others. */
export function DaysChart ({ days: rows }: { readonly days: readonly Day[] }) {
  const { locale } = useShop()
  const { palette } = useTheme()
  const short = new Intl.DateTimeFormat(inLanguage(locale), { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const colors = { agents: palette.primary.main, people: palette.success.main, others: palette.text.disabled }
  return (
    <BarChart
      height={260}
      skipAnimation
      grid={{ horizontal: true }}
      borderRadius={3}
      margin={{ left: 0 }}
      xAxis={[{ scaleType: 'band', data: rows.map(({ day }) => short.format(new Date(day))), categoryGapRatio: 0.4 }]}
      yAxis={[{ width: 40, tickMinStep: 1 }]}
      series={(['agents', 'people', 'others'] as const).map((kind) => ({
        data: rows.map((row) => row[kind]),
        label: texts.home[kind],
        stack: 'all',
        color: colors[kind]
      }))}
    />
  )
}
