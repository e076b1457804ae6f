import { Box } from '@mui/material'
import { Facts } from '../layout/facts.tsx'
import { texts } from '../texts.ts'
import { agoText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { type ApiKey, endedOf } from './key.ts'
import { KeyStatus } from './key-status.tsx'
import { clientText, type KeyClient } from './key-use.ts'

/** What is known of a key itself, and the clients that it is used in. */
export function KeyFacts (
  { apiKey, clients }: { readonly apiKey: ApiKey, readonly clients: readonly KeyClient[] | undefined }
) {
  const shop = useShop()
  const { fields } = texts.names['api-keys']
  const endOf = (): readonly [string, string] => {
    const ended = endedOf(apiKey)
    if (ended !== undefined) return [texts.keys.ended[ended.how], timeText(ended.at, shop)]
    return [fields.expires_at, apiKey.expires_at === null ? texts.keys.never : timeText(apiKey.expires_at, shop)]
  }
  const facts: ReadonlyArray<readonly [string, React.ReactNode]> = [
    [fields.status, <KeyStatus key='status' apiKey={apiKey} />],
    [fields.prefix, <code key='prefix'>{apiKey.prefix}…</code>],
    [fields.scopes, apiKey.scopes === 'all' ? texts.keys.everything : apiKey.scopes.join(', ')],
    [
      fields.last_used_at,
      apiKey.last_used_at === null
        ? texts.keys.never
        : (
          <span key='used'>
            {agoText(apiKey.last_used_at, shop)}{' '}
            {apiKey.last_used_network !== null && texts.keys.from(apiKey.last_used_network)}
          </span>
        )
    ],
    endOf(),
    [fields.created_at, timeText(apiKey.created_at, shop)],
    [texts.keys.clients, clients === undefined ? '…' : <Clients key='clients' clients={clients} />]
  ]
  return <Facts facts={facts} />
}

function Clients ({ clients }: { readonly clients: readonly KeyClient[] }) {
  const shop = useShop()
  if (clients.length === 0) return texts.keys.noClients
  return (
    <Box component='ul' sx={{ m: 0, p: 0, listStyle: 'none' }}>
      {clients.map((client) => (
        <li key={client.name}>
          <span>{clientText(client)}</span>, {agoText(client.last_seen_at, shop)}
        </li>
      ))}
    </Box>
  )
}
