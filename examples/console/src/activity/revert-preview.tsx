import { Alert, Box, Link as MuiLink, Typography } from '@mui/material'
import { type ReactNode } from 'react'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { texts } from '../texts.ts'
import { recordOf } from './entry.ts'
import type { Revert } from './revert.ts'

/** How many records are named. */
const SHOWN = 12

/** Says what an undo would do, or what stands in its way. */
export function RevertPreview ({ revert: { reverted, changes, conflicts, conflict_count: conflictCount, left_out_count: leftOut } }: { readonly revert: Revert }) {
  const basename = useBasename()
  const later = (id: string) => <MuiLink key={id} component={Link} to={`${basename}/history?filter=${encodeURIComponent(JSON.stringify({ id }))}`}>{texts.activity.showLater}</MuiLink>
  return (
    <Box sx={{ mt: 2 }}>
      {conflictCount > 0
        ? (
          <Alert severity='error'>
            {texts.activity.conflicts(conflictCount)}
            <List items={conflicts.map((conflict) => [`${recordOf(conflict)}: ${conflict.reason}`, ...conflict.later_change_id === null ? [] : [' · ', later(conflict.later_change_id)]])} />
          </Alert>
          )
        : (
          <Alert severity={reverted === 0 ? 'info' : 'success'}>
            {reverted === 0 ? texts.activity.wouldNone : texts.activity.would(reverted)}
            <List items={changes.map((change) => `${recordOf(change)} ${texts.activity.will[change.action]}`)} />
          </Alert>
          )}
      {leftOut > 0 && <Typography variant='body2' color='textSecondary' sx={{ mt: 1 }}>{texts.activity.leftOut(leftOut)}</Typography>}
    </Box>
  )
}

function List ({ items }: { readonly items: readonly ReactNode[] }) {
  return (
    <Box component='ul' sx={{ m: 0, mt: 0.5, pl: 2.5, overflowWrap: 'anywhere' }}>
      {items.slice(0, SHOWN).map((item, index) => <li key={index}>{item}</li>)}
      {items.length > SHOWN && <li>{texts.filters.more(items.length - SHOWN)}</li>}
    </Box>
  )
}
