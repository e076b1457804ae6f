import AddIcon from '@mui/icons-material/PersonAddAltOutlined'
import RemoveIcon from '@mui/icons-material/PersonRemoveOutlined'
import { Button, Card, Chip, IconButton, MenuItem, Select, TextField } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify } from 'react-admin'
import { ActivityLink } from '../activity/activity-link.tsx'
import { readAll } from '../api/http.ts'
import { ApiError } from '../api/problem.ts'
import { Ask } from '../layout/ask.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { PageHeading } from '../layout/page.tsx'
import { texts } from '../texts.ts'
import { dateText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { heirsIn } from './heirs.ts'
import { type Decision, LeavingDialog } from './leaving-dialog.tsx'

interface Member {
  readonly user_id: string
  readonly name: string | null
  readonly active: boolean
  readonly role: Role
  readonly created_at: string
  readonly updated_at: string
}

type Role = typeof ROLES[number]
const ROLES = ['owner', 'staff'] as const

/** Who works in the shop. */
export function MembersPage () {
  const { call, id: viewerId, name: viewerName } = useViewer()
  const shop = useShop()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const path = `/shops/${shop.id}/members`
  const { data } = useQuery({ queryKey: ['members'], queryFn: async () => await readAll<Member>(call, path) })
  const [isAdding, setAdding] = useState(false)
  const [asked, setAsked] = useState<{ readonly member: Member, readonly role: Role | undefined }>()
  const readAgain = async () => await queryClient.invalidateQueries({ queryKey: ['members'] })
  // Others have the name of their last token; one's own is that of the bar.
  const nameOf = ({ name, user_id: id }: Member) => id === viewerId ? viewerName : name ?? id
  /**
   * Makes them that, or removes them, unless others have changed them since they were listed: their ETag is more than
   * that of the list.
   */
  const change = async (member: Member, role: Role | undefined, decision: Decision = {}) => {
    const { user_id: id, updated_at: seen } = member
    const name = nameOf(member)
    try {
      const { json, headers } = await call<Member>(`${path}/${id}`)
      if (json.updated_at !== seen) throw new ApiError(412, {})
      await call(`${path}/${id}${role === undefined ? queryOf(decision) : ''}`, {
        method: role === undefined ? 'DELETE' : 'PATCH',
        ...role !== undefined && { data: { role } },
        headers: new Headers({ 'if-match': headers.get('etag')! })
      })
      notify(texts.members.changed(name, role), { type: 'success' })
    } finally {
      await readAgain()
      // Keys of who has left wait there.
      await queryClient.invalidateQueries({ queryKey: ['api-keys'] })
    }
  }
  return (
    <>
      <PageHeading title={texts.members.title} text={texts.members.ownerHelp}>
        {shop.isOwner && (
          <Button
            variant='contained'
            startIcon={<AddIcon />}
            onClick={() => setAdding(true)}
          >
            {texts.members.add}
          </Button>
        )}
      </PageHeading>
      <Card>
        <FoldingTable
          size='medium'
          name={texts.members.title}
          columns={[
            { name: texts.keys.name },
            { name: texts.members.role, isPlain: true },
            { name: texts.list.created },
            { name: texts.list.actions, align: 'right', isEnd: true }
          ]}
        >
          {data?.rows.map((member) => (
            <FoldingRow key={member.user_id}>
              <>
                <ActivityLink actorId={member.user_id}>{nameOf(member)}</ActivityLink>{' '}
                {member.user_id === viewerId && <Chip size='small' label={texts.members.you} />}{' '}
                {!member.active && (
                  <Chip size='small' color='warning' variant='outlined' label={texts.members.inactive} />
                )}
              </>
              {shop.isOwner
                ? (
                  <Select
                    size='small'
                    value={member.role}
                    inputProps={{ 'aria-label': `${texts.members.role}: ${nameOf(member)}` }}
                    onChange={({ target }) => setAsked({ member, role: target.value })}
                    sx={{ minWidth: 120 }}
                  >
                    {ROLES.map((role) => <MenuItem key={role} value={role}>{texts.members[role]}</MenuItem>)}
                  </Select>
                )
                : texts.members[member.role]}
              {dateText(member.created_at, shop)}
              {(shop.isOwner || member.user_id === viewerId) && (
                <IconButton
                  aria-label={texts.members.remove(nameOf(member))}
                  onClick={() => setAsked({ member, role: undefined })}
                >
                  <RemoveIcon fontSize='small' />
                </IconButton>
              )}
            </FoldingRow>
          ))}
        </FoldingTable>
      </Card>
      {isAdding && (
        <AddMember
          path={path}
          onClose={() => setAdding(false)}
          onDone={readAgain}
        />
      )}
      {asked !== undefined && asked.role !== undefined && (
        <Ask
          {...texts.members.ask(nameOf(asked.member), asked.role)}
          onConfirm={async () => await change(asked.member, asked.role)}
          onClose={() =>
            setAsked(undefined)}
        />
      )}
      {asked !== undefined && asked.role === undefined && (
        <LeavingDialog
          {...texts.members.ask(nameOf(asked.member), undefined)}
          keysPath={`${path}/${asked.member.user_id}/api-keys`}
          mayDecide={shop.isOwner}
          heirs={async () => await heirsIn(call, shop.id, { id: viewerId, name: viewerName }, asked.member.user_id)}
          onConfirm={async (decision) =>
            await change(asked.member, undefined, decision)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}

/** As the query of a removal. */
function queryOf (decision: Decision): string {
  const query = new URLSearchParams({ ...decision }).toString()
  return query === '' ? '' : `?${query}`
}

function AddMember (
  { path, onClose, onDone }: {
    readonly path: string,
    readonly onClose: () => void,
    readonly onDone: () => Promise<unknown>
  }
) {
  const { call } = useViewer()
  const notify = useNotify()
  const [id, setId] = useState('')
  const [role, setRole] = useState<string>('staff')
  const add = async () => {
    await call(path, { method: 'POST', data: { user_id: id.trim(), role } })
    await onDone()
    notify(texts.members.added, { type: 'success' })
  }
  return (
    <FormDialog
      title={texts.members.add}
      submit={texts.members.save}
      onClose={onClose}
      onSubmit={add}
      fields={['user_id', 'role']}
    >
      {(faults) => (
        <>
          <TextField
            label={texts.members.id}
            value={id}
            onChange={({ target }) => setId(target.value)}
            autoFocus
            error={'user_id' in faults}
            helperText={faults['user_id'] ?? texts.members.idHelp}
          />
          <TextField
            select
            label={texts.members.role}
            value={role}
            onChange={({ target }) => setRole(target.value)}
            helperText={texts.members.ownerHelp}
          >
            {ROLES.map((role) => <MenuItem key={role} value={role}>{texts.members[role]}</MenuItem>)}
          </TextField>
        </>
      )}
    </FormDialog>
  )
}
