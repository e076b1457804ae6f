import AddIcon from '@mui/icons-material/Add'
import MoreIcon from '@mui/icons-material/MoreVert'
import { Button, Card, Chip, IconButton, Menu, MenuItem, Stack, Tooltip, Typography } from '@mui/material'
import { useState } from 'react'
import { ListBase, useBasename, useListContext } from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { AS_LISTED } from '../api/save.ts'
import { ChoiceChip, EmptyList, ListFilters } from '../layout/filter-chips.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { Col, RecordTable } from '../layout/record-table.tsx'
import { statusText, texts } from '../texts.ts'
import { agoText, dateText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { CreateKey } from './create-key.tsx'
import { CreatedKey } from './created-key.tsx'
import { type ApiKey, endedOf, endsSoon, type NewKey } from './key.ts'
import { RevokeKey, RotateKey } from './key-dialogs.tsx'
import { KeyLink } from './key-link.tsx'
import { KeyStatus } from './key-status.tsx'
import { WaitingKeys } from './waiting-keys.tsx'

/** The API keys of the shop. */
export function KeyList () {
  const { isOwner } = useShop()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<NewKey>()
  const newKey = isOwner && (
    <Button variant='contained' startIcon={<AddIcon />} onClick={() => setCreating(true)}>{texts.keys.create}</Button>
  )
  return (
    <ListBase
      filterDefaultValues={{ status: 'active' }}
      sort={{ field: 'created_at', order: 'DESC' }}
      perPage={25}
      queryOptions={AS_LISTED}
    >
      <PageHeading title={texts.keys.title} text={isOwner ? texts.keys.why : texts.keys.ownersOnly}>
        {newKey}
      </PageHeading>
      <WaitingKeys />
      <Card>
        <ListFilters search={texts.keys.search} own={['status']}>
          <ChoiceChip
            isSingle
            field='status'
            label={texts.filters.status}
            choices={['active', 'expired', 'revoked'].map((id) => ({ id, name: statusText(id) }))}
          />
        </ListFilters>
        <Keys newKey={newKey} onRotated={setCreated} />
      </Card>
      {isCreating && <CreateKey onClose={() => setCreating(false)} onCreated={setCreated} />}
      {created !== undefined && <CreatedKey apiKey={created} onClose={() => setCreated(undefined)} />}
    </ListBase>
  )
}

function Keys ({ newKey, onRotated }: { readonly newKey: React.ReactNode, readonly onRotated: (key: NewKey) => void }) {
  const shop = useShop()
  const { total, isPending } = useListContext()
  if (!isPending && (total ?? 0) === 0) {
    return <EmptyList title={texts.keys.empty} text={texts.keys.emptyWhy}>{newKey}</EmptyList>
  }
  return (
    <>
      <RecordTable
        rowClick={false}
        bulkActionButtons={false}
        storeKey='api-keys.datatable'
        sx={{ '& .RaDataTable-row': { height: 56 } }}
      >
        <Col
          source='name'
          isName
          render={(key: ApiKey) => (
            <>
              <KeyLink keyId={key.id}>{key.name}</KeyLink>
              <Typography
                variant='caption'
                component='div'
                color='textSecondary'
                sx={{ fontFamily: 'ui-monospace, monospace' }}
              >
                {key.prefix}…
              </Typography>
            </>
          )}
        />
        <Col source='status' isPlain disableSort render={(key: ApiKey) => <KeyStatus apiKey={key} />} />
        <Col source='scopes' disableSort render={(key: ApiKey) => <Scopes scopes={key.scopes} />} />
        <Col
          source='last_used_at'
          render={({ last_used_at: at, last_used_network: network }: ApiKey) =>
            at === null
              ? texts.keys.never
              : (
                <span title={[timeText(at, shop), network === null ? '' : texts.keys.from(network)].join(' ')}>
                  {agoText(at, shop)}
                </span>
              )}
        />
        <Col
          source='expires_at'
          render={(key: ApiKey) => <KeyEnd apiKey={key} />}
        />
        <Col source='created_at' render={({ created_at: at }: ApiKey) => dateText(at, shop)} />
        <Col
          isEnd
          disableSort
          label={texts.list.actions}
          render={(key: ApiKey) => <KeyActions apiKey={key} onRotated={onRotated} />}
          sx={{ width: 48 }}
        />
      </RecordTable>
      <Pages />
    </>
  )
}

/** When a key ends, or how and when it has. */
function KeyEnd ({ apiKey }: { readonly apiKey: ApiKey }) {
  const shop = useShop()
  const ended = endedOf(apiKey)
  if (ended !== undefined) return texts.keys.endedOn(texts.keys.ended[ended.how], dateText(ended.at, shop))
  if (apiKey.expires_at === null) return texts.keys.never
  return (
    <Stack direction='row' sx={{ gap: 1, alignItems: 'center' }}>
      {dateText(apiKey.expires_at, shop)}
      {endsSoon(apiKey) && (
        <Chip size='small' color='warning' variant='outlined' label={agoText(apiKey.expires_at, shop)} />
      )}
    </Stack>
  )
}

/** How many scopes stand in a row of the list. */
const SHOWN = 3

function Scopes ({ scopes }: { readonly scopes: ApiKey['scopes'] }) {
  if (scopes === 'all') return <Chip size='small' color='warning' variant='outlined' label={texts.keys.everything} />
  return (
    <Stack direction='row' sx={{ gap: 0.5, flexWrap: 'wrap' }}>
      {scopes.slice(0, SHOWN).map((scope) => <Chip key={scope} size='small' label={scope} />)}
      {scopes.length > SHOWN && (
        <Tooltip title={scopes.slice(SHOWN).join(', ')}>
          <Chip size='small' tabIndex={0} label={texts.filters.more(scopes.length - SHOWN)} />
        </Tooltip>
      )}
    </Stack>
  )
}

function KeyActions ({ apiKey, onRotated }: { readonly apiKey: ApiKey, readonly onRotated: (key: NewKey) => void }) {
  const { isOwner } = useShop()
  const basename = useBasename()
  const navigate = useNavigate()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [asking, setAsking] = useState<'rotate' | 'revoke'>()
  const ask = (what: 'rotate' | 'revoke') => {
    setAnchor(null)
    setAsking(what)
  }
  const filter = encodeURIComponent(JSON.stringify({ actor_id: apiKey.id }))
  return (
    <>
      <IconButton
        aria-label={texts.keys.actions(apiKey.name)}
        aria-haspopup='menu'
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
      >
        <MoreIcon fontSize='small' />
      </IconButton>
      <Menu anchorEl={anchor} open={anchor !== null} onClose={() => setAnchor(null)}>
        <MenuItem
          onClick={() => {
            navigate(`${basename}/history?filter=${filter}`)
          }}
        >
          {texts.keys.activity}
        </MenuItem>
        {isOwner && apiKey.status === 'active' && [
          <MenuItem key='rotate' onClick={() => ask('rotate')}>{texts.keys.rotate}</MenuItem>,
          <MenuItem key='revoke' onClick={() => ask('revoke')} sx={{ color: 'error.main' }}>
            {texts.keys.revoke}
          </MenuItem>
        ]}
      </Menu>
      {asking === 'rotate' && <RotateKey apiKey={apiKey} onClose={() => setAsking(undefined)} onRotated={onRotated} />}
      {asking === 'revoke' && <RevokeKey apiKey={apiKey} onClose={() => setAsking(undefined)} />}
    </>
  )
}
