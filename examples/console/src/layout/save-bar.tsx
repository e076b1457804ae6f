import { Box } from '@mui/material'
import type { ReactNode } from 'react'
import { EDGE } from './edge.ts'

/** The buttons of a form. On a narrow screen they stay at its lower edge, in reach wherever somebody types. */
export function SaveBar ({ children }: { readonly children: ReactNode }) {
  return <Box sx={BAR}>{children}</Box>
}

const BAR = {
  display: 'flex',
  gap: 1,
  justifyContent: 'space-between',
  position: { xs: 'sticky', md: 'static' },
  bottom: EDGE,
  zIndex: 2,
  mx: { xs: -1.5, sm: -3, md: 0 },
  px: { xs: 1.5, sm: 3, md: 0 },
  py: { xs: 1, md: 0 },
  bgcolor: { xs: 'background.paper', md: 'transparent' },
  borderTop: { xs: 1, md: 0 },
  borderColor: { xs: 'divider' }
} as const
