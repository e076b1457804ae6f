import { Chip, type ChipProps } from '@mui/material'
import { statusText } from '../texts.ts'

const COLORS: Readonly<Record<string, ChipProps['color']>> = {
  active: 'success',
  paid: 'info',
  fulfilled: 'success',
  pending: 'warning',
  expired: 'warning',
  revoked: 'error',
  refused: 'error',
  cancelled: 'default',
  draft: 'default',
  archived: 'default'
}

/** The status of a record. Its name says it, not its colour alone. */
export function StatusChip ({ status }: { readonly status: string }) {
  return <Chip size='small' variant='outlined' label={statusText(status)} color={COLORS[status] ?? 'default'} />
}
