import { Box, Chip, LinearProgress } from '@mui/material'
import { OfServer } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { type Import, isUnfinished } from './import.ts'

const COLORS: Readonly<Partial<Record<Import['status'], 'success' | 'error'>>> = { done: 'success', failed: 'error' }

/** How far an import is, and why it stopped. */
export function ImportState ({ item }: { readonly item: Import }) {
  const { status, total, processed, error } = item
  return (
    <Box sx={{ overflowWrap: 'anywhere' }}>
      <Chip
        size='small'
        variant='outlined'
        label={texts.imports.states[status]}
        color={COLORS[status] ?? 'default'}
      />{' '}
      <Box component='span' sx={{ whiteSpace: 'nowrap' }}>{texts.imports.progressText(processed, total)}</Box>
      {error !== null && (
        <div>
          <OfServer text={error} />
        </div>
      )}
      {isUnfinished(item) && (
        <LinearProgress
          variant='determinate'
          value={total === 0 ? 100 : 100 * processed / total}
          aria-label={texts.imports.progress}
          sx={{ mt: 0.5 }}
        />
      )}
    </Box>
  )
}
