import { Box, Button, Card, Chip, Typography } from '@mui/material'
import UndoIcon from '@mui/icons-material/Undo'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Children, useState } from 'react'
import { useBasename } from 'react-admin'
import { Link, useSearchParams } from 'react-router-dom'
import type { ApiKey } from '../agents/key.ts'
import { readAll } from '../api/http.ts'
import { useAnnounceResult } from '../layout/announcements.tsx'
import { ChoicesChip } from '../layout/filter-chips.tsx'
import { RowsSkeleton } from '../layout/page-skeleton.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { useFocusBeside } from '../layout/use-focus-beside.ts'
import { texts } from '../texts.ts'
import { exactRangeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { ActivityLink } from './activity-link.tsx'
import { ActorLine } from './activity-line.tsx'
import { actorOf } from './entry.ts'
import { UndoDialog } from './undo-dialog.tsx'
import { Views } from './views.tsx'
import { type Who, whoChoices, whoFrom } from './who.ts'
import { type Work, workText } from './work.ts'

interface Page {
  readonly work: readonly Work[]
  readonly next: string | null
}

/**
 * How often the newest are read while the page is open, in milliseconds. The server answers 304 while nothing is new.
 */
const EVERY = 10_000

/** The name in the address of whose work is shown. */
const WHOSE = 'who'

/** What was changed in the shop, an entry for what somebody did in one go. */
export function WorkPage () {
  const { call } = useViewer()
  const { id } = useShop()
  const [search, setSearch] = useSearchParams()
  const whose = search.get(WHOSE)
  const who = whoFrom(whose)
  const choose = (value: string | undefined) => setSearch(value === undefined ? {} : { [WHOSE]: value })
  const { data, isPending, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['work', id, who],
    initialPageParam: '',
    queryFn: async ({ pageParam }) =>
      (await call<Page>(
        `/shops/${id}/history/work?${new URLSearchParams({ ...who, ...pageParam !== '' && { until: pageParam } })}`
      )).json,
    getNextPageParam: ({ next }) => next,
    // Older pages would be read again too.
    refetchInterval: ({ state }) => state.data?.pages.length === 1 ? EVERY : false
  })
  const work = data?.pages.flatMap((page) => page.work) ?? []
  useAnnounceResult(
    `${whose} ${data?.pages.length ?? 1}`,
    isFetching || data === undefined ? undefined : texts.list.matches(1, work.length, work.length)
  )
  return (
    <>
      <PageHeading title={texts.activity.title} text={texts.activity.work.why}>
        <Views current='work' filter={who} />
      </PageHeading>
      <Card aria-busy={isPending}>
        <Box role='group' aria-label={texts.filters.title} sx={{ p: 2, borderBottom: 1, borderColor: 'divider' }}>
          <Whose value={whose ?? undefined} onChange={choose} />
        </Box>
        {isPending && <RowsSkeleton />}
        {data !== undefined && work.length === 0 &&
          (whose === null
            ? <EmptyState title={texts.activity.empty} />
            : (
              <EmptyState title={texts.filters.nothing}>
                <Button variant='outlined' onClick={() => choose(undefined)}>{texts.filters.clearFilters}</Button>
              </EmptyState>
            ))}
        <Box component='ol' sx={{ listStyle: 'none', m: 0, p: 0 }}>
          {work.map((piece) => (
            <Piece key={`${piece.actor_kind} ${piece.actor_id} ${piece.started_at}`} piece={piece} who={who} />
          ))}
        </Box>
        {hasNextPage && (
          <Box sx={{ p: 2 }}>
            <Button
              loading={isFetching}
              onClick={() => {
                fetchNextPage()
              }}
            >
              {texts.activity.more}
            </Button>
          </Box>
        )}
      </Card>
    </>
  )
}

/** Limits the work to a kind, a key or a person. Their names are read when somebody looks for them. */
function Whose (
  { value, onChange }: { readonly value: string | undefined, readonly onChange: (value: string | undefined) => void }
) {
  const { call } = useViewer()
  const { id } = useShop()
  const [isWanted, setWanted] = useState(value?.includes(':') === true)
  const { data: choices = whoChoices([], []) } = useQuery({
    queryKey: ['whose', id],
    enabled: isWanted,
    queryFn: async () => {
      const [keys, people] = await Promise.all([
        readAll<ApiKey>(call, `/shops/${id}/api-keys/`),
        readAll<{ readonly user_id: string, readonly name: string | null }>(call, `/shops/${id}/members`)
      ])
      return whoChoices(keys.rows, people.rows.map(({ user_id: id, name }) => ({ id, name: name ?? id })))
    }
  })
  return (
    <ChoicesChip
      label={texts.activity.whose.title}
      choices={choices}
      isSingle
      value={value}
      onChange={(chosen) => onChange(chosen as string | undefined)}
      onOpen={() => setWanted(true)}
    />
  )
}

function Piece ({ piece, who: { operation } }: { readonly piece: Work, readonly who: Who }) {
  const shop = useShop()
  const { id: viewerId } = useViewer()
  const basename = useBasename()
  const [isUndoing, setUndoing] = useState(false)
  const open = useFocusBeside<HTMLAnchorElement>(isUndoing)
  const { actor_kind: kind, actor_id: actorId, started_at: start, ended_at: end, by_tool: isByTool } = piece
  const actor = kind === 'user' && actorId === viewerId ? texts.activity.you : actorOf(piece)
  const what = workText(piece, shop.locale)
  // Filters compare to the microsecond, which the times here do not have.
  const filter = {
    ...actorId !== null && { actor_id: actorId },
    actor_kind: [kind],
    ...operation !== undefined && { operation },
    at_gte: start,
    at_lte: new Date(Date.parse(end) + 1).toISOString()
  }
  return (
    <ActorLine
      kind={kind}
      time={<time dateTime={start}>{exactRangeText(start, end, shop)}</time>}
      actions={
        <>
          {isByTool && <Chip size='small' color='primary' variant='outlined' label={texts.activity.tool} />}
          {piece.revertible > 0 && actorId !== null && (
            <Button
              size='small'
              startIcon={<UndoIcon />}
              aria-label={texts.activity.work.undoOf(actor, what)}
              onClick={() => setUndoing(true)}
            >
              {texts.activity.work.undo}
            </Button>
          )}
          <Button
            size='small'
            component={Link}
            ref={open}
            aria-label={texts.activity.work.openOf(actor, what)}
            to={`${basename}/history?filter=${encodeURIComponent(JSON.stringify(filter))}`}
          >
            {texts.activity.work.open}
          </Button>
        </>
      }
      more={isUndoing && (
        <UndoDialog
          title={texts.activity.work.undoTitle(actor, what)}
          path='revert'
          data={{
            actor_kind: kind,
            actor_id: actorId,
            since: start,
            until: end,
            ...operation !== undefined && { operation }
          }}
          onClose={() => setUndoing(false)}
        />
      )}
    >
      <Typography variant='body2' sx={{ overflowWrap: 'anywhere' }}>
        {Children.toArray(
          texts.activity.work.line(
            actorId === null ? <b>{actor}</b> : <ActivityLink actorId={actorId}>{actor}</ActivityLink>,
            what
          )
        )}
      </Typography>
    </ActorLine>
  )
}
