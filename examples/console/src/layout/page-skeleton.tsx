import { Box, Card, Skeleton } from '@mui/material'
import { texts } from '../texts.ts'

/** The shape of rows that are being read. */
export function RowsSkeleton () {
  return (
    <Box role='group' aria-busy aria-label={texts.layout.loading} sx={{ p: 2 }}>
      {Array.from({ length: 6 }, (_, n) => <Skeleton key={n} height={48} />)}
    </Box>
  )
}

/** The shape of a page that is being read: its heading, and a part below it. */
export function PageSkeleton () {
  return (
    <>
      <Skeleton width='40%' height={40} sx={{ mb: 2 }} />
      <Card>
        <RowsSkeleton />
      </Card>
    </>
  )
}
