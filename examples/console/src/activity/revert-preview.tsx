import { Alert, Box, Link as MuiLink, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { listUrl } from '../api/http.ts'
import { OfServer } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { type Entry, fieldName, recordOf } from './entry.ts'
import type { Conflict, Revert } from './revert.ts'
import { useWords } from './words.ts'

/** How many records are named. */
const SHOWN = 12

/** Says what an undo would do, from which value to which, and what stands in its way. */
export function RevertPreview (
  { revert: { reverted, changes, conflicts, conflict_count: conflictCount, left_out_count: leftOut } }: {
    readonly revert: Revert
  }
) {
  const basename = useBasename()
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const ids = changes.slice(0, SHOWN).filter(({ action }) => action === 'update').map(({ change_id: id }) => id)
  const { data: entries = [] } = useQuery({
    queryKey: ['history', 'of revert', ids],
    enabled: ids.length > 0,
    queryFn: async () =>
      (await call<readonly Entry[]>(listUrl(`/shops/${shopId}/history`, { filter: { id: ids }, limit: SHOWN }))).json
  })
  const words = useWords(entries)
  const setBack = (id: string) => {
    const entry = entries.find((entry) => entry.id === id)
    return entry === undefined ? '' : ` (${words.change(entry, 'after')})`
  }
  const later = (id: string) => (
    <MuiLink key={id} component={Link} to={`${basename}/history?filter=${encodeURIComponent(JSON.stringify({ id }))}`}>
      {texts.activity.showLater}
    </MuiLink>
  )
  return (
    <Box sx={{ mt: 2 }}>
      {(reverted > 0 || conflictCount === 0) && (
        <Alert severity={reverted === 0 ? 'info' : 'success'}>
          {reverted === 0 ? texts.activity.wouldNone : texts.activity.would(reverted)}
          <List
            items={changes.map((change) =>
              `${recordOf(change)} ${texts.activity.will[change.action]}${setBack(change.change_id)}`
            )}
            count={reverted}
          />
        </Alert>
      )}
      {conflictCount > 0 && (
        <Alert severity={reverted > 0 ? 'warning' : 'error'} sx={{ mt: 1 }}>
          {reverted > 0 ? texts.activity.stay(conflictCount) : texts.activity.conflicts(conflictCount)}
          <List
            items={conflicts.map((
              conflict
            ) => [
              `${recordOf(conflict)}: `,
              <Reason key='reason' conflict={conflict} />,
              ...conflict.later_change_id === null ? [] : [' · ', later(conflict.later_change_id)]
            ])}
            count={conflictCount}
          />
        </Alert>
      )}
      {leftOut > 0 && (
        <Typography variant='body2' color='textSecondary' sx={{ mt: 1 }}>{texts.activity.leftOut(leftOut)}</Typography>
      )}
    </Box>
  )
}

/** The reason, with the name of the field in words. */
function Reason ({ conflict: { field, reason, record_kind: kind } }: { readonly conflict: Conflict }) {
  if (field === undefined || !reason.startsWith(`${field} `)) return <OfServer text={reason} />
  return (
    <>
      {fieldName(field, kind)} <OfServer text={reason.slice(field.length + 1)} />
    </>
  )
}

/** @param count - of all, of which the server lists the first */
function List ({ items, count }: { readonly items: readonly ReactNode[], readonly count: number }) {
  return (
    <Box component='ul' sx={{ m: 0, mt: 0.5, pl: 2.5, overflowWrap: 'anywhere' }}>
      {items.slice(0, SHOWN).map((item, index) => <li key={index}>{item}</li>)}
      {count > SHOWN && <li>{texts.filters.more(count - SHOWN)}</li>}
    </Box>
  )
}
