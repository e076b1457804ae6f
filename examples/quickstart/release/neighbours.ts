import { accessTokenFor, startIdentityProvider } from 'identity-provider'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import knexFrom from 'knex'
import { startPayStandIn } from 'pay-reconcile/testing'

/** The client that people sign in with. */
export const CLIENT_ID = 'public-client-1'

const ada = { username: 'ada', password: 'correct horse battery' }

/**
 * Calls back with an identity provider, and the access token of somebody in the group `shop-1`.
 *
 * @param baseUrl - origin of the server that the token is for
 */
export async function withProvider (
  baseUrl: string,
  use: (provider: { issuer: string, token: string }) => Promise<void>
): Promise<void> {
  const { issuer, close } = await startIdentityProvider({
    port: 0,
    users: [{ ...ada, groups: ['shop-1'] }],
    resource: baseUrl,
    clientId: CLIENT_ID,
    m2m: { clientId: 'machine', clientSecret: 'of no use here' }
  })
  try {
    await use({
      issuer,
      token: await accessTokenFor({ ...ada, issuer, clientId: CLIENT_ID, resource: `${baseUrl}/mcp` })
    })
  } finally {
    await close()
  }
}

/** Calls back with a payment provider that knows the key of the shop on the page. */
export async function withPayProvider (use: (provider: { payPort: number }) => Promise<void>): Promise<void> {
  const standIn = await startPayStandIn({ accounts: { sk_test_corner: {} }, log: () => {} })
  try {
    await use({ payPort: standIn.port })
  } finally {
    await standIn.close()
  }
}

/** The page on which the program of pay-reconcile is tried. */
export const tryPage = readFileSync(new URL('../../../packages/pay-reconcile/docs/testing.md', import.meta.url), 'utf8')

/** Calls back with a database of its own, with what the page puts into it. */
export async function withDatabase (
  serverUrl: string,
  use: (database: { url: string, accountId: string }) => Promise<void>
): Promise<void> {
  const name = `release_check_${randomUUID().replaceAll('-', '')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const server = knexFrom({ client: 'pg', connection: serverUrl, pool: { min: 0, max: 1 } })
  try {
    await server.raw('create database ??', [name])
    const knex = knexFrom({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
    await knex.raw(/```sql\n([^]*?)```/.exec(tryPage)![1]!)
    const [{ id: accountId }] = await knex('accounts').select('id')
    await knex.destroy()
    await use({ url: url.href, accountId })
  } finally {
    await server.raw('drop database if exists ?? with (force)', [name])
    await server.destroy()
  }
}
