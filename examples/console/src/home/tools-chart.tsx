import { Box, Typography, useTheme } from '@mui/material'
import { BarChart } from '@mui/x-charts/BarChart'
import { texts } from '../texts.ts'
import { durationText, type ToolUse } from './tool-calls.ts'

/** How many tools have a bar: the ones with the most calls. */
const MOST = 8

interface ToolsChartProps {
  readonly tools: readonly ToolUse[]
  readonly locale: string
}

/** Calls and errors of each tool, and how long its calls took. */
export function ToolsChart ({ tools, locale }: ToolsChartProps) {
  const { palette } = useTheme()
  const shown = tools.slice(0, MOST)
  const common = {
    height: 56 + shown.length * 34,
    layout: 'horizontal',
    skipAnimation: true,
    borderRadius: 3,
    margin: { left: 0, right: 28, top: 0 },
    yAxis: [{
      scaleType: 'band' as const,
      data: shown.map(({ tool }) => tool),
      width: Math.max(...shown.map(({ tool }) => tool.length)) * 7 + 14,
      categoryGapRatio: 0.35
    }]
  } as const
  const time = (value: number | null) => durationText(value, locale)
  return (
    <Box sx={{ display: 'grid', gap: 2, gridTemplateColumns: { xs: 'minmax(0, 1fr)', md: '1fr 1fr' } }}>
      <Box sx={{ minWidth: 0 }}>
        <Typography variant='h3' component='h3'>{texts.home.callsByTool}</Typography>
        <BarChart
          {...common}
          xAxis={[{ tickMinStep: 1 }]}
          series={[
            {
              data: shown.map(({ calls, errors }) => calls - errors),
              label: texts.home.succeeded,
              stack: 'all',
              color: palette.primary.main
            },
            {
              data: shown.map(({ errors }) => errors),
              label: texts.home.errors,
              stack: 'all',
              color: palette.error.main
            }
          ]}
        />
      </Box>
      <Box sx={{ minWidth: 0 }}>
        <Typography variant='h3' component='h3'>{texts.home.durationByTool}</Typography>
        <BarChart
          {...common}
          xAxis={[{ valueFormatter: time, tickNumber: 4 }]}
          series={[
            {
              data: shown.map((tool) => tool.p50_ms),
              label: texts.home.p50,
              color: palette.success.main,
              valueFormatter: time
            },
            {
              data: shown.map((tool) => tool.p99_ms),
              label: texts.home.p99,
              color: palette.warning.main,
              valueFormatter: time
            }
          ]}
        />
      </Box>
    </Box>
  )
}
