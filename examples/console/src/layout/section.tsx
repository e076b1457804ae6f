import { Box, Card, CardContent, Typography } from '@mui/material'
import type { ReactNode } from 'react'

/** A part of a page under a heading. */
export function Section (
  { title, text, action, children }: {
    readonly title: string,
    readonly text?: string,
    readonly action?: ReactNode,
    readonly children: ReactNode
  }
) {
  return (
    <Card component='section' aria-label={title}>
      <CardContent sx={{ p: 2.5, '&:last-child': { pb: 2.5 } }}>
        <Box
          sx={{
            mb: text === undefined ? 1 : 0.5,
            display: 'flex',
            justifyContent: 'space-between',
            gap: 1,
            alignItems: 'center',
            flexWrap: 'wrap'
          }}
        >
          <Typography variant='h2' sx={{ overflowWrap: 'anywhere' }}>{title}</Typography>
          {action}
        </Box>
        {text !== undefined && <Typography color='textSecondary' variant='body2' sx={{ mb: 1 }}>{text}</Typography>}
        {children}
      </CardContent>
    </Card>
  )
}
