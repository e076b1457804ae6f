import { useTheme } from '@mui/material'
import { BarChart } from '@mui/x-charts/BarChart'
import { texts } from '../texts.ts'

/** How many accounts have each difference. */
export function DifferenceChart ({ differences }: { readonly differences: Readonly<Record<string, number>> }) {
  const { palette } = useTheme()
  const kinds = Object.entries(differences).sort(([, one], [, other]) => other - one)
  return (
    <BarChart
      height={40 + kinds.length * 34}
      layout='horizontal'
      skipAnimation
      hideLegend
      borderRadius={3}
      margin={{ left: 0, right: 16 }}
      yAxis={[{
        scaleType: 'band',
        data: kinds.map(([kind]) => texts.reconcile.differences[kind] ?? kind),
        width: 165
      }]}
      xAxis={[{ tickMinStep: 1 }]}
      series={[{ data: kinds.map(([, count]) => count), label: texts.reconcile.accounts, color: palette.primary.main }]}
    />
  )
}
