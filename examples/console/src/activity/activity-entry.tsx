import UndoIcon from '@mui/icons-material/Undo'
import ExpandIcon from '@mui/icons-material/ExpandMore'
import { Avatar, Box, Button, Chip, Collapse, IconButton, Link as MuiLink, Typography } from '@mui/material'
import { useId, useState } from 'react'
import { useBasename } from 'react-admin'
import { Link } from 'react-router-dom'
import { texts } from '../texts.ts'
import { exactTimeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { ACTOR_ICONS, MachineIcon } from './actor-icons.ts'
import { Differences } from './differences.tsx'
import { actorOf, changedFields, type Entry, recordOf } from './entry.ts'
import { UndoOne } from './undo-one.tsx'

/** The pages of records, by their kinds. */
const PAGES: Readonly<Record<string, string>> = { product: 'products', tag: 'tags', attribute: 'attributes' }

/** One change: who did what to which record; on demand field by field. */
export function ActivityEntry ({ entry, isBrief = false }: { readonly entry: Entry, readonly isBrief?: boolean }) {
  const shop = useShop()
  const { id: viewerId } = useViewer()
  const basename = useBasename()
  const [isOpen, setOpen] = useState(false)
  const [isUndoing, setUndoing] = useState(false)
  const id = useId()
  const { action, at, actor_kind: kind, actor_id: actorId, tool, operation, record_kind: recordKind, record_id: recordId } = entry
  const Icon = ACTOR_ICONS[kind] ?? MachineIcon
  const page = action === 'delete' ? undefined : PAGES[recordKind]
  const isUndone = entry.reverted_by != null
  const actor = kind === 'user' && actorId === viewerId ? texts.activity.you : actorOf(entry)
  const name = recordOf(entry)
  // Such as: the key "Demo" was refused. Its actor is the key itself, or the server.
  const event = texts.activity.events[operation]
  return (
    <Box component='li' sx={{ borderBottom: 1, borderColor: 'divider', px: 2, py: 1, '&:last-child': { borderBottom: 0 } }}>
      <Box sx={{ display: 'flex', gap: 1.5, alignItems: 'center', flexWrap: { xs: 'wrap', sm: 'nowrap' } }}>
        <Avatar sx={{ width: 34, height: 34, bgcolor: kind === 'api-key' ? 'primary.main' : 'action.selected', color: kind === 'api-key' ? 'primary.contrastText' : 'text.primary' }}><Icon fontSize='small' titleAccess={texts.activity.actors[kind] ?? kind} /></Avatar>
        <Box sx={{ minWidth: 0, flex: { xs: '1 1 calc(100% - 60px)', sm: 1 } }}>
          <Typography variant='body2' sx={{ overflowWrap: 'anywhere', textDecoration: isUndone ? 'line-through' : 'none' }}>
            {event !== undefined
              ? <><b>{name}</b>{' '}{event}</>
              : (
                <>
                  <MuiLink component={Link} to={`${basename}/history?filter=${encodeURIComponent(JSON.stringify({ actor_id: actorId }))}`} color='inherit' sx={{ fontWeight: 650 }} title={texts.activity.actor}>{actor}</MuiLink>
                  {' '}{texts.activity.actions[action] || operation}{' '}
                  {page === undefined ? <b>{name}</b> : <MuiLink component={Link} to={`${basename}/${page}/${recordId}`} sx={{ fontWeight: 650 }}>{name}</MuiLink>}
                </>
                )}
            {changedFields(entry) !== '' && <Typography component='span' variant='body2' color='textSecondary'>{`: ${changedFields(entry)}`}</Typography>}
          </Typography>
          <Typography variant='caption' color='textSecondary' component='div'>
            <time dateTime={at}>{exactTimeText(at, shop)}</time>{' · '}
            {texts.activity.kinds[recordKind] ?? recordKind}{' · '}
            <span style={{ fontFamily: 'ui-monospace, monospace' }}>{operation}</span>
          </Typography>
        </Box>
        {!isBrief && (
          <>
            {tool != null && <Chip size='small' color='primary' variant='outlined' label={texts.activity.tool} />}
            {entry.confirmed != null && <Chip size='small' variant='outlined' label={texts.activity.confirmed(entry.confirmed)} />}
            {isUndone && <Chip size='small' label={texts.activity.reverted} />}
            {entry.reverts != null && <Chip size='small' variant='outlined' label={texts.activity.revert} />}
            {entry.revertible === true && !isUndone && <Button size='small' startIcon={<UndoIcon />} onClick={() => setUndoing(true)} aria-label={`${texts.activity.undo}: ${name}`}>{texts.activity.undo}</Button>}
            <IconButton size='small' aria-expanded={isOpen} aria-controls={id} aria-label={`${isOpen ? texts.activity.less : texts.activity.details}: ${name}`} onClick={() => setOpen(!isOpen)}>
              <ExpandIcon sx={{ transform: isOpen ? 'rotate(180deg)' : 'none', transition: 'transform .15s' }} />
            </IconButton>
          </>
        )}
      </Box>
      <Collapse in={isOpen} unmountOnExit id={id}>
        <Box sx={{ pl: { sm: 6 }, pt: 1 }}><Differences entry={entry} /></Box>
      </Collapse>
      {isUndoing && <UndoOne entry={entry} onClose={() => setUndoing(false)} />}
    </Box>
  )
}
