import { Avatar, Box, Typography } from '@mui/material'
import { Children, type ReactNode } from 'react'
import { useBasename } from 'react-admin'
import { PageLink } from '../layout/page-link.tsx'
import { texts } from '../texts.ts'
import { exactTimeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { ACTOR_ICONS, MachineIcon } from './actor-icons.ts'
import { ActivityLink } from './activity-link.tsx'
import { actorOf, changedFields, type Entry, recordOf } from './entry.ts'

interface ActorLineProps {
  readonly kind: string
  /** Who did what. */
  readonly children: ReactNode
  /** Chooses it; false where there is nothing to choose. */
  readonly choice?: ReactNode
  /** When. */
  readonly time: ReactNode
  /** What can be done with it. */
  readonly actions?: ReactNode
  /** What is shown on demand. */
  readonly more?: ReactNode
}

/** One item of a list of what somebody did. */
export function ActorLine ({ kind, children, choice = false, time, actions, more }: ActorLineProps) {
  const Icon = ACTOR_ICONS[kind] ?? MachineIcon
  return (
    <Box
      component='li'
      sx={{ borderBottom: 1, borderColor: 'divider', px: 2, py: 1, '&:last-child': { borderBottom: 0 } }}
    >
      <Box sx={{ display: 'flex', gap: 1.5, alignItems: 'center', flexWrap: { xs: 'wrap', sm: 'nowrap' } }}>
        {choice}
        <Avatar
          sx={{
            width: 34,
            height: 34,
            bgcolor: kind === 'api-key' ? 'primary.main' : 'action.selected',
            color: kind === 'api-key' ? 'primary.contrastText' : 'text.primary'
          }}
        >
          <Icon fontSize='small' titleAccess={texts.activity.actors[kind] ?? kind} />
        </Avatar>
        <Box sx={{ minWidth: 0, flex: { xs: `1 1 calc(100% - ${choice === false ? 60 : 94}px)`, sm: 1 } }}>
          {children}
          <Typography variant='caption' color='textSecondary' component='div'>{time}</Typography>
        </Box>
        {actions}
      </Box>
      {more}
    </Box>
  )
}

/** The pages of records, by their kinds. */
const PAGES: Readonly<Record<string, string>> = { product: 'products', tag: 'tags', attribute: 'attributes' }

interface ActivityLineProps extends Pick<ActorLineProps, 'choice' | 'actions' | 'more'> {
  readonly entry: Entry
  /** The id of what it says; with `-at`, that of when it was. */
  readonly textId?: string
}

/** One change: who did what to which record. */
export function ActivityLine ({ entry, textId, ...parts }: ActivityLineProps) {
  const shop = useShop()
  const { id: viewerId } = useViewer()
  const basename = useBasename()
  const { action, at, actor_kind: kind, actor_id: actorId, operation, record_kind: recordKind, record_id: recordId } =
    entry
  const page = action === 'delete' ? undefined : PAGES[recordKind]
  const name = recordOf(entry)
  const actor = kind === 'user' && actorId === viewerId ? texts.activity.you : actorOf(entry)
  const fields = changedFields(entry)
  // Such as: the key "Demo" was refused. Its actor is the key itself, or the server.
  const event = texts.activity.events[operation]
  return (
    <ActorLine
      kind={kind}
      {...parts}
      time={
        <>
          <time id={textId && `${textId}-at`} dateTime={at}>{exactTimeText(at, shop)}</time>
          {` · ${texts.activity.kinds[recordKind] ?? recordKind} · `}
          <span style={{ fontFamily: 'ui-monospace, monospace' }}>{operation}</span>
        </>
      }
    >
      <Typography
        id={textId}
        variant='body2'
        sx={{ overflowWrap: 'anywhere', textDecoration: entry.reverted_by != null ? 'line-through' : 'none' }}
      >
        {event !== undefined
          ? (
            <>
              <b>{name}</b> {event}
            </>
          )
          : Children.toArray(
            texts.activity.line(
              actorId === null ? <b>{actor}</b> : <ActivityLink actorId={actorId}>{actor}</ActivityLink>,
              texts.activity.actions[action] || operation,
              page === undefined ? <b>{name}</b> : <PageLink to={`${basename}/${page}/${recordId}`}>{name}</PageLink>
            )
          )}
        {fields !== '' && (
          <Typography component='span' variant='body2' color='textSecondary'>
            {texts.activity.lineFields(fields)}
          </Typography>
        )}
      </Typography>
    </ActorLine>
  )
}
