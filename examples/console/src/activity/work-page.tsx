import { Alert, Avatar, Box, Button, Card, Chip, Skeleton, Typography } from '@mui/material'
import UndoIcon from '@mui/icons-material/Undo'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { texts } from '../texts.ts'
import { exactTimeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { ActivityLink } from './activity-link.tsx'
import { ACTOR_ICONS, MachineIcon } from './actor-icons.ts'
import { actorOf } from './entry.ts'
import { UndoDialog } from './undo-dialog.tsx'
import { type Work, workText } from './work.ts'

interface Page { readonly work: readonly Work[], readonly next: string | null }

/** How often the newest are read while the page is open, in milliseconds. */
const EVERY = 10_000

/** What was changed in the shop, an entry for what somebody did in one go. */
export function WorkPage () {
  const { call } = useViewer()
  const { id } = useShop()
  const basename = useBasename()
  const { data, error, isPending, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['work', id],
    initialPageParam: '',
    queryFn: async ({ pageParam }) => (await call<Page>(`/shops/${id}/history/work?${new URLSearchParams(pageParam === '' ? {} : { until: pageParam })}`)).json,
    getNextPageParam: ({ next }) => next,
    // Older pages would be read again too.
    refetchInterval: ({ state }) => state.data?.pages.length === 1 ? EVERY : false
  })
  const work = data?.pages.flatMap((page) => page.work) ?? []
  return (
    <>
      <PageHeading title={texts.activity.work.title} text={texts.activity.work.why}><Button component={Link} to={`${basename}/history`}>{texts.activity.work.each}</Button></PageHeading>
      {error !== null && <Alert severity='error'>{error.message}</Alert>}
      <Card aria-busy={isFetching}>
        {isPending && error === null && <Box sx={{ p: 2 }}>{Array.from({ length: 6 }, (_, n) => <Skeleton key={n} height={52} />)}</Box>}
        {data !== undefined && work.length === 0 && <EmptyState title={texts.activity.empty} />}
        <Box component='ol' sx={{ listStyle: 'none', m: 0, p: 0 }}>{work.map((piece) => <Piece key={`${piece.actor_kind} ${piece.actor_id} ${piece.started_at}`} piece={piece} />)}</Box>
        {hasNextPage && <Box sx={{ p: 2 }}><Button disabled={isFetching} onClick={() => { fetchNextPage() }}>{texts.activity.more}</Button></Box>}
      </Card>
    </>
  )
}

function Piece ({ piece }: { readonly piece: Work }) {
  const shop = useShop()
  const { id: viewerId } = useViewer()
  const basename = useBasename()
  const [isUndoing, setUndoing] = useState(false)
  const { actor_kind: kind, actor_id: actorId, started_at: start, ended_at: end, by_tool: isByTool } = piece
  const Icon = ACTOR_ICONS[kind] ?? MachineIcon
  const actor = kind === 'user' && actorId === viewerId ? texts.activity.you : actorOf(piece)
  const what = workText(piece, shop.locale)
  // Filters compare to the microsecond, which the times here do not have.
  const filter = { ...actorId !== null && { actor_id: actorId }, actor_kind: [kind], at_gte: start, at_lte: new Date(Date.parse(end) + 1).toISOString() }
  return (
    <Box component='li' sx={{ borderBottom: 1, borderColor: 'divider', px: 2, py: 1, '&:last-child': { borderBottom: 0 }, display: 'flex', gap: 1.5, alignItems: 'center', flexWrap: { xs: 'wrap', sm: 'nowrap' } }}>
      <Avatar sx={{ width: 34, height: 34, bgcolor: kind === 'api-key' ? 'primary.main' : 'action.selected', color: kind === 'api-key' ? 'primary.contrastText' : 'text.primary' }}><Icon fontSize='small' titleAccess={texts.activity.actors[kind] ?? kind} /></Avatar>
      <Box sx={{ minWidth: 0, flex: { xs: '1 1 calc(100% - 60px)', sm: 1 } }}>
        <Typography variant='body2' sx={{ overflowWrap: 'anywhere' }}>{actorId === null ? <b>{actor}</b> : <ActivityLink actorId={actorId}>{actor}</ActivityLink>} {what}</Typography>
        <Typography variant='caption' color='textSecondary' component='div'><time dateTime={start}>{exactTimeText(start, shop)}</time>{start !== end && <> – <time dateTime={end}>{exactTimeText(end, shop)}</time></>}</Typography>
      </Box>
      {isByTool && <Chip size='small' color='primary' variant='outlined' label={texts.activity.tool} />}
      {piece.revertible > 0 && actorId !== null && <Button size='small' startIcon={<UndoIcon />} aria-label={texts.activity.work.undoOf(actor, what)} onClick={() => setUndoing(true)}>{texts.activity.work.undo}</Button>}
      <Button size='small' component={Link} aria-label={texts.activity.work.openOf(actor, what)} to={`${basename}/history?filter=${encodeURIComponent(JSON.stringify(filter))}`}>{texts.activity.work.open}</Button>
      {isUndoing && <UndoDialog title={texts.activity.work.undoTitle(actor, what)} path='revert' data={{ actor_kind: kind, actor_id: actorId, since: start, until: end }} onClose={() => setUndoing(false)} />}
    </Box>
  )
}
