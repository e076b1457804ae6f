import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  FormControl,
  FormControlLabel,
  FormLabel,
  Radio,
  RadioGroup,
  Typography
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { actorOf, type Entry, fieldName, kindOf } from '../activity/entry.ts'
import { type Difference, useWords } from '../activity/words.ts'
import { listUrl } from '../api/http.ts'
import type { Clash } from '../api/merge.ts'
import type { Versioned } from '../api/save.ts'
import { MANNER } from '../reconcile/manner.ts'
import { texts } from '../texts.ts'
import { exactTimeText } from '../times.ts'
import { ShopContext, useViewer } from '../viewer.tsx'
import type { Question } from './conflicts.tsx'

const nameOf = ({ fields }: Clash): string => fields.join(' ')

/** What others have changed of a record that somebody saves, and whose to keep. */
export default function ConflictDialog (
  { question: { path, before, clashes, answer } }: { readonly question: Question }
) {
  const manner = useContext(ShopContext) ?? MANNER
  const [kept, setKept] = useState<Readonly<Record<string, 'mine' | 'theirs'>>>({})
  const changes = useChangesSince(before)
  const isReady = clashes.every((clash) => nameOf(clash) in kept)
  const finish = () =>
    answer(Object.assign({}, ...clashes.map((clash) => kept[nameOf(clash)] === 'mine' ? clash.mine : {})))
  const difference: Difference = {
    record_id: String(before['id']),
    record_kind: kindOf(path.split('/').at(-2)!),
    changes: Object.fromEntries(
      clashes.flatMap(({ fields, mine, theirs }) =>
        fields.map((field) => [field, { before: mine[field], after: theirs[field] }])
      )
    )
  }
  const words = useWords([difference])
  const shown = ({ fields }: Clash, whose: 'mine' | 'theirs') =>
    fields.filter((field) => field !== 'currency' || fields.length === 1).map((field) =>
      words.value(difference, field, whose === 'mine' ? 'before' : 'after')
    ).join(' ')
  return (
    <Dialog
      open
      fullWidth
      maxWidth='sm'
      aria-labelledby='conflicts'
      onClose={(_event, reason) => {
        if (reason === 'escapeKeyDown') answer(undefined)
      }}
    >
      <DialogTitle id='conflicts'>{texts.conflicts.title}</DialogTitle>
      <DialogContent>
        <DialogContentText>{texts.conflicts.why}</DialogContentText>
        {clashes.map((clash) => {
          const by = changes.find((entry) => clash.fields.some((field) => field in entry.changes))
          const [first = ''] = clash.fields
          const name = fieldName(first, difference.record_kind)
          return (
            <FormControl key={nameOf(clash)} sx={{ display: 'block', mt: 2 }}>
              <FormLabel id={`conflict-${nameOf(clash)}`}>{name}</FormLabel>
              {by !== undefined && (
                <Typography variant='body2' color='textSecondary'>
                  {texts.conflicts.by(actorOf(by), exactTimeText(by.at, manner))}
                </Typography>
              )}
              <RadioGroup
                aria-labelledby={`conflict-${nameOf(clash)}`}
                value={kept[nameOf(clash)] ?? ''}
                onChange={(_event, value) => setKept({ ...kept, [nameOf(clash)]: value as 'mine' | 'theirs' })}
              >
                {(['mine', 'theirs'] as const).map((whose) => (
                  <FormControlLabel
                    key={whose}
                    value={whose}
                    control={<Radio size='small' />}
                    label={
                      <bdi style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
                        {texts.conflicts[whose](shown(clash, whose))}
                      </bdi>
                    }
                  />
                ))}
              </RadioGroup>
            </FormControl>
          )
        })}
      </DialogContent>
      <DialogActions>
        <Button onClick={() => answer(undefined)}>{texts.conflicts.back}</Button>
        <Button variant='contained' disabled={!isReady} onClick={finish}>{texts.conflicts.save}</Button>
      </DialogActions>
    </Dialog>
  )
}

/** The latest changes of a record since it was read, the newest first; none if they cannot be read. */
function useChangesSince ({ id, shop_id: shopId = id, updated_at: since }: Versioned): readonly Entry[] {
  const { call } = useViewer()
  const filter = { record_id: id ?? shopId, at_gte: since }
  const { data } = useQuery({
    queryKey: ['history', 'since', filter],
    queryFn: async () => {
      const path = listUrl(`/shops/${String(shopId)}/history`, { limit: 50, sort: '-at', filter })
      return (await call<readonly Entry[]>(path)).json
    },
    gcTime: 0
  })
  return data ?? []
}
