import { Box, Typography } from '@mui/material'
import type { ReactNode } from 'react'

/** The heading of a page, with what can be done there. */
export function PageHeading ({ title, text, children }: { readonly title: ReactNode, readonly text?: ReactNode, readonly children?: ReactNode }) {
  return (
    <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1.5, alignItems: 'center', justifyContent: 'space-between', mb: 2 }}>
      <Box sx={{ minWidth: 0 }}>
        <Typography variant='h1' sx={{ overflowWrap: 'anywhere' }}>{title}</Typography>
        {text !== undefined && <Typography color='textSecondary'>{text}</Typography>}
      </Box>
      <Box sx={{ display: 'flex', gap: 1, flexWrap: 'wrap' }}>{children}</Box>
    </Box>
  )
}

/** What a list shows when it has nothing. */
export function EmptyState ({ title, text, children }: { readonly title: string, readonly text?: string, readonly children?: ReactNode }) {
  return (
    <Box sx={{ py: 8, px: 2, textAlign: 'center' }}>
      <Typography variant='h2' gutterBottom>{title}</Typography>
      {text !== undefined && <Typography color='textSecondary' sx={{ mb: 2, maxWidth: '40ch', mx: 'auto' }}>{text}</Typography>}
      {children}
    </Box>
  )
}
