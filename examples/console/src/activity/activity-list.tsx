import RefreshIcon from '@mui/icons-material/Refresh'
import UndoIcon from '@mui/icons-material/Undo'
import { Box, Button, Card, Chip, Typography } from '@mui/material'
import { useState } from 'react'
import { ListBase, useListContext } from 'react-admin'
import { AS_LISTED } from '../api/save.ts'
import { ChipButton, ChoiceChip, EmptyList, ListFilters, useFilterField } from '../layout/filter-chips.tsx'
import { RowsSkeleton } from '../layout/page-skeleton.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { Selectable } from '../layout/selection.tsx'
import { texts } from '../texts.ts'
import { dateText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { ActivityEntry } from './activity-entry.tsx'
import { actorOf, byDay, canUndo, type Entry, recordOf } from './entry.ts'
import { UndoAll } from './undo-all.tsx'
import { ChoosePage, UndoChosen } from './undo-chosen.tsx'
import { Views } from './views.tsx'

/** How often the newest entries are read while the page is open, in milliseconds. */
const EVERY = 5000

/**
 * Everything that was changed in the shop, newest first. Filters are in the address only: who comes back sees what
 * agents do now.
 */
export function ActivityList () {
  return (
    <ListBase
      storeKey={false}
      sort={{ field: 'at', order: 'DESC' }}
      perPage={50}
      queryOptions={{ ...AS_LISTED, refetchInterval: EVERY }}
    >
      <Heading />
      {/* What is hidden beyond its corners must still scroll with the page: see the bar of the chosen changes. */}
      <Card sx={{ overflow: 'clip' }}>
        <Filters />
        <Selectable canSelect={canUndo}>
          <ChoosePage />
          <Entries />
          <UndoChosen />
        </Selectable>
        <Pages />
      </Card>
    </ListBase>
  )
}

function Heading () {
  const { filterValues, data, refetch } = useListContext<Entry & { id: string }>()
  const [isAsking, setAsking] = useState(false)
  const only = [filterValues?.['actor_id']].flat()[0]
  const actor = data?.find(({ actor_id: id }) => id === only)
  return (
    <PageHeading title={texts.activity.title} windowTitle={texts.activity.work.each} text={texts.activity.why}>
      {actor !== undefined && (
        <Button variant='outlined' startIcon={<UndoIcon />} onClick={() => setAsking(true)}>
          {texts.activity.undoAll(actorOf(actor), actor.actor_kind === 'api-key')}
        </Button>
      )}
      <Button
        startIcon={<RefreshIcon />}
        onClick={() => {
          refetch()
        }}
      >
        {texts.activity.refresh}
      </Button>
      <Views current='each' filter={filterValues} />
      {isAsking && actor !== undefined && (
        <UndoAll
          actorKind={actor.actor_kind}
          actorId={actor.actor_id!}
          name={actorOf(actor)}
          onClose={() => setAsking(false)}
        />
      )}
    </PageHeading>
  )
}

const named = (names: Readonly<Record<string, string>>) => Object.entries(names).map(([id, name]) => ({ id, name }))

function Filters () {
  return (
    <ListFilters
      search={texts.activity.search}
      own={['actor_kind', 'action', 'record_kind', 'actor_id', 'record_id', 'request_id', 'id']}
    >
      <ChoiceChip field='actor_kind' label={texts.activity.who} choices={named(texts.activity.actors)} />
      <ChoiceChip field='action' label={texts.activity.action} choices={named(texts.activity.actionNames)} />
      <ChoiceChip field='record_kind' label={texts.activity.kind} choices={named(texts.activity.kinds)} />
      <OnlyChip field='actor_id' label={texts.activity.only.actor} nameOf={actorOf} />
      <OnlyChip field='record_id' label={texts.activity.only.record} nameOf={recordOf} />
      <OnlyChip field='request_id' label={texts.activity.only.request} nameOf={() => undefined} />
      <OnlyChip field='id' label={texts.activity.only.change} nameOf={recordOf} />
    </ListFilters>
  )
}

/** Shows a filter that a link set, and takes it away. */
function OnlyChip (
  { field, label, nameOf }: {
    readonly field: 'actor_id' | 'record_id' | 'request_id' | 'id',
    readonly label: string,
    readonly nameOf: (entry: Entry) => string | undefined
  }
) {
  const [value, setValue] = useFilterField<string | readonly string[]>(field)
  const { data } = useListContext<Entry & { id: string }>()
  if (value === undefined) return null
  const id = [value].flat()[0] as string
  const entry = data?.find((entry) => entry[field] === id)
  const clear = () => setValue(undefined)
  return (
    <ChipButton
      label={label}
      value={(entry && nameOf(entry)) ?? id.slice(0, 8)}
      isOpen={false}
      onOpen={clear}
      onClear={clear}
    />
  )
}

function Entries () {
  const { locale, timeZone } = useShop()
  const { data = [], isPending } = useListContext<Entry & { id: string }>()
  if (isPending) return <RowsSkeleton />
  if (data.length === 0) return <EmptyList title={texts.activity.empty} />
  const hasChoices = data.some(canUndo)
  const today = byDay([{ at: new Date().toISOString() }], timeZone)[0]![0]
  const yesterday = byDay([{ at: new Date(Date.now() - 86_400_000).toISOString() }], timeZone)[0]![0]
  const titleOf = (day: string, at: string): string => {
    if (day === today) return texts.activity.today
    return day === yesterday ? texts.activity.yesterday : dateText(at, { locale, timeZone })
  }
  return (
    <Box>
      {byDay(data, timeZone).map(([day, entries]) => (
        <Box key={day} component='section' aria-labelledby={`day-${day}`}>
          <Box
            sx={{
              px: 2,
              py: 0.75,
              bgcolor: 'background.default',
              borderTop: 1,
              borderBottom: 1,
              borderColor: 'divider',
              display: 'flex'
            }}
          >
            <Typography id={`day-${day}`} variant='body2' component='h2' sx={{ fontWeight: 600 }}>
              {titleOf(day, entries[0]!.at)}
            </Typography>
            <Chip size='small' label={entries.length} sx={{ ml: 1 }} />
          </Box>
          <Box component='ol' sx={{ listStyle: 'none', m: 0, p: 0 }}>
            {entries.map((entry) => <ActivityEntry key={entry.id} entry={entry} isAmongChoices={hasChoices} />)}
          </Box>
        </Box>
      ))}
    </Box>
  )
}
