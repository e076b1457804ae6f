import { Box, Typography } from '@mui/material'
import type { ReactNode } from 'react'

/** What is known of a record, each fact by its name. */
export function Facts ({ facts }: { readonly facts: ReadonlyArray<readonly [name: string, value: ReactNode]> }) {
  return (
    <Box
      component='dl'
      sx={{ m: 0, display: 'grid', gridTemplateColumns: 'auto minmax(0, 1fr)', columnGap: 2, rowGap: 1 }}
    >
      {facts.map(([name, value]) => [
        <Typography key={name} component='dt' variant='body2' color='textSecondary'>{name}</Typography>,
        <Typography key={`${name} value`} component='dd' variant='body2' sx={{ m: 0, overflowWrap: 'anywhere' }}>
          {value}
        </Typography>
      ])}
    </Box>
  )
}
