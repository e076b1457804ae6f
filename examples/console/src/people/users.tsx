import { Button, Card, Chip, FormControlLabel, Switch } from '@mui/material'
import { useState } from 'react'
import { ListBase, useBasename, useRefresh } from 'react-admin'
import { Link } from 'react-router-dom'
import { listUrl } from '../api/http.ts'
import { AS_LISTED, ifMatch } from '../api/save.ts'
import { Ask } from '../layout/ask.tsx'
import { EmptyList, ListFilters } from '../layout/filter-chips.tsx'
import { PageHeading } from '../layout/page.tsx'
import { Pages } from '../layout/pages.tsx'
import { Col, RecordTable } from '../layout/record-table.tsx'
import { MANNER } from '../reconcile/manner.ts'
import { settings } from '../settings.ts'
import { texts } from '../texts.ts'
import { dateText } from '../times.ts'
import { useViewer } from '../viewer.tsx'
import { type Decision, LeavingDialog } from './leaving-dialog.tsx'

interface User {
  readonly id: string
  readonly name: string | null
  readonly subject: string
  readonly active: boolean
  readonly roles: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

/** Everybody who has signed in, with what admins may change of them. */
export function UserList () {
  return (
    <ListBase sort={{ field: 'name', order: 'ASC' }} perPage={25} queryOptions={AS_LISTED}>
      <PageHeading title={texts.menu.people} text={texts.users.why} />
      <Card>
        <ListFilters search={texts.users.search} />
        <RecordTable
          foldsBelow={800}
          rowClick={false}
          bulkActionButtons={false}
          empty={<EmptyList title={texts.users.empty} />}
        >
          <Col source='name' isName render={(user: User) => <Name user={user} />} />
          <Col source='subject' sx={{ fontFamily: 'ui-monospace, monospace', fontSize: '.8rem' }} />
          <Col
            source='active'
            isPlain
            render={(user: User) => (
              <Toggle user={user} what='active' isOn={user.active} changes={(active) => ({ active })} />
            )}
          />
          <Col
            source='roles'
            isPlain
            disableSort
            render={(user: User) => (
              <Toggle
                user={user}
                what='admin'
                isOn={user.roles.includes('admin')}
                changes={(isAdmin) => ({
                  roles: isAdmin ? [...user.roles, 'admin'] : user.roles.filter((role) => role !== 'admin')
                })}
              />
            )}
          />
          {settings.connected_apps && (
            <Col isEnd disableSort label={texts.users.apps} render={(user: User) => <AppsLink user={user} />} />
          )}
          <Col source='created_at' render={({ created_at: at }: User) => dateText(at, MANNER)} />
        </RecordTable>
        <Pages />
      </Card>
    </ListBase>
  )
}

/** Others have the name of their last token; one's own is that of the bar. */
function useNameOf ({ id, name, subject }: User): string {
  const viewer = useViewer()
  return id === viewer.id ? viewer.name : name ?? subject
}

function Name ({ user }: { readonly user: User }) {
  const { id: viewerId } = useViewer()
  return (
    <>
      <bdi>{useNameOf(user)}</bdi> {user.id === viewerId && <Chip size='small' label={texts.members.you} />}
    </>
  )
}

function AppsLink ({ user }: { readonly user: User }) {
  const name = useNameOf(user)
  return (
    <Button
      size='small'
      component={Link}
      to={`${useBasename()}/admin/users/${user.id}/apps`}
      aria-label={texts.apps.of(name)}
    >
      {texts.users.apps}
    </Button>
  )
}

function Toggle (
  { user, what, isOn, changes }: {
    readonly user: User,
    readonly what: 'active' | 'admin',
    readonly isOn: boolean,
    readonly changes: (isOn: boolean) => object
  }
) {
  const viewer = useViewer()
  const { call } = viewer
  const name = useNameOf(user)
  const refresh = useRefresh()
  const [isAsking, setAsking] = useState(false)
  const text = texts.users[what]
  const { title, why, submit } = texts.users.ask[what][isOn ? 'off' : 'on']
  const path = `/admin/users/${user.id}`
  const set = async (decision: Decision = {}) =>
    await call(path, { method: 'PATCH', data: { ...changes(!isOn), ...decision }, headers: ifMatch(user) }).finally(
      () => refresh()
    )
  /** Admins reach every shop. */
  const heirs = async () => {
    const { json } = await call<readonly User[]>(
      listUrl('/admin/users', { limit: 200, sort: 'name', filter: { role: 'admin', active: true } })
    )
    return json.filter(({ id }) => id !== user.id).map(({ id, name, subject }) => ({
      id,
      name: id === viewer.id ? viewer.name : name ?? subject
    }))
  }
  return (
    <>
      <FormControlLabel
        label={text}
        control={
          <Switch
            size='small'
            checked={isOn}
            onChange={() => setAsking(true)}
            slotProps={{ input: { 'aria-label': `${text}: ${name}` } }}
          />
        }
      />
      {isAsking && what === 'active' && isOn && (
        <LeavingDialog
          title={title(name)}
          why={why}
          submit={submit}
          keysPath={`${path}/api-keys`}
          inShops
          mayDecide
          heirs={heirs}
          onConfirm={set}
          onClose={() => setAsking(false)}
        />
      )}
      {isAsking && !(what === 'active' && isOn) && (
        <Ask
          title={title(name)}
          why={why}
          submit={submit}
          isDangerous={isOn}
          onConfirm={async () => await set()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
