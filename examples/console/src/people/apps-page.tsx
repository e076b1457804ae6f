import DisconnectIcon from '@mui/icons-material/LinkOffOutlined'
import { Card, IconButton, Typography } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { useParams } from 'react-router-dom'
import { useNotify } from 'react-admin'
import { Ask } from '../layout/ask.tsx'
import { FoldingRow, FoldingTable } from '../layout/fold.tsx'
import { NoRecord } from '../layout/no-record.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { MANNER } from '../reconcile/manner.ts'
import { texts } from '../texts.ts'
import { agoText, dateText, timeText } from '../times.ts'
import { ShopContext, useViewer } from '../viewer.tsx'

interface App {
  readonly id: string
  /** Null if it registered itself: nobody checked its name. */
  readonly client_id: string | null
  readonly client_name: string
  readonly created_at: string
  readonly used_at: string
  readonly access_token_expires_at: string | null
}

interface Ended extends Pick<App, 'access_token_expires_at'> {
  readonly at_provider: keyof typeof texts.apps.atProvider
}

/** The MCP clients that the viewer let in by signing in. */
export function AppsPage () {
  return <Apps path='/oauth/grants' title={texts.apps.title} words={texts.apps.own} />
}

/** Those of another person, for admins. */
export function UserAppsPage () {
  const { call } = useViewer()
  const { id = '' } = useParams()
  const path = `/admin/users/${encodeURIComponent(id)}`
  const { data: user, error } = useQuery({
    queryKey: ['admin/users', 'one', id],
    queryFn: async () => (await call<{ readonly name: string | null, readonly subject: string }>(path)).json
  })
  if (user === undefined) return error === null ? null : <NoRecord error={error} />
  return <Apps path={`${path}/apps`} title={texts.apps.of(user.name ?? user.subject)} words={texts.apps.theirs} />
}

interface AppsProps {
  /** Of the list on the server. */
  readonly path: string
  readonly title: string
  readonly words: Readonly<Record<keyof typeof texts.apps.own, string>>
}

function Apps ({ path, title, words }: AppsProps) {
  const { call } = useViewer()
  const manner = useContext(ShopContext) ?? MANNER
  const notify = useNotify()
  const queryClient = useQueryClient()
  const { data } = useQuery({ queryKey: ['apps', path], queryFn: async () => (await call<App[]>(path)).json })
  const [asked, setAsked] = useState<App>()
  const untilOf = ({ access_token_expires_at: at }: Pick<App, 'access_token_expires_at'>) =>
    texts.apps.until(at === null ? undefined : timeText(at, manner), at !== null && Date.parse(at) <= Date.now())
  const disconnect = async ({ id, client_name: name }: App) => {
    try {
      const { json } = await call<Ended>(`${path}/${id}`, { method: 'DELETE' })
      notify(`${texts.apps.done(name, untilOf(json))} ${texts.apps.atProvider[json.at_provider]}`, {
        multiLine: true,
        ...json.at_provider !== 'revoked' && { type: 'warning', autoHideDuration: null }
      })
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['apps'] })
    }
  }
  return (
    <>
      <PageHeading title={title} text={words.why} />
      {data?.length === 0 && (
        <Card>
          <EmptyState title={texts.apps.empty} text={words.emptyWhy} />
        </Card>
      )}
      {data !== undefined && data.length > 0 && (
        <Card>
          <FoldingTable
            size='medium'
            name={title}
            columns={[
              { name: texts.apps.name },
              { name: texts.apps.connected },
              { name: texts.apps.used },
              { name: texts.list.actions, align: 'right', isEnd: true }
            ]}
          >
            {data.map((app) => (
              <FoldingRow key={app.id}>
                <>
                  {app.client_name}
                  <Typography variant='caption' component='div' color='textSecondary'>
                    {app.client_id ?? texts.apps.unchecked}
                  </Typography>
                </>
                {dateText(app.created_at, manner)}
                <span title={timeText(app.used_at, manner)}>{agoText(app.used_at, manner)}</span>
                <IconButton aria-label={texts.apps.disconnect(app.client_name)} onClick={() => setAsked(app)}>
                  <DisconnectIcon fontSize='small' />
                </IconButton>
              </FoldingRow>
            ))}
          </FoldingTable>
        </Card>
      )}
      {asked !== undefined && (
        <Ask
          {...texts.apps.ask(asked.client_name, untilOf(asked), words.again)}
          isDangerous
          onConfirm={async () => await disconnect(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}
