import { randomUUID } from 'node:crypto'
import knexFrom from 'knex'
import { startPayStandIn } from 'pay-reconcile/testing'
import { accessTokenFor, startIdentityProvider } from '../../shop/src/demo/identity-provider.ts'

/** The client that people sign in with. */
export const CLIENT_ID = 'public-client-1'

const ada = { username: 'ada', password: 'correct horse battery' }

/**
 * Calls back with an identity provider, and the access token of somebody in the group `shop-1`.
 *
 * @param baseUrl - origin of the server that the token is for
 */
export async function withProvider (baseUrl: string, use: (provider: { issuer: string, token: string }) => Promise<void>): Promise<void> {
  const { issuer, close } = await startIdentityProvider({
    port: 0, users: [{ ...ada, groups: ['shop-1'] }], resource: baseUrl, clientId: CLIENT_ID, m2m: { clientId: 'machine', clientSecret: 'of no use here' }
  })
  try {
    await use({ issuer, token: await accessTokenFor({ ...ada, issuer, clientId: CLIENT_ID, resource: `${baseUrl}/mcp` }) })
  } finally {
    await close()
  }
}

/** Calls back with a payment provider that knows one secret key. */
export async function withPayProvider (use: (provider: { payPort: number, secretKey: string }) => Promise<void>): Promise<void> {
  const secretKey = 'sk_test_shopA00000000000000000000'
  const standIn = await startPayStandIn({ accounts: { [secretKey]: {} }, log: () => {} })
  try {
    await use({ payPort: standIn.port, secretKey })
  } finally {
    await standIn.close()
  }
}

/** Calls back with a database of its own, in which one shop with a secret key has one account. */
export async function withDatabase (
  serverUrl: string, secretKey: string, use: (database: { url: string, accountId: string }) => Promise<void>
): Promise<void> {
  const name = `release_check_${randomUUID().replaceAll('-', '')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const server = knexFrom({ client: 'pg', connection: serverUrl, pool: { min: 0, max: 1 } })
  try {
    await server.raw('create database ??', [name])
    const knex = knexFrom({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
    await knex.raw('create table shops (id uuid primary key, name text not null, pay_secret_key text)')
    await knex.raw("create table accounts (id uuid primary key, shop_id uuid not null references shops, name text not null, hash_name text, details jsonb default '{}')")
    const [shopId, accountId] = [randomUUID(), randomUUID()]
    await knex('shops').insert({ id: shopId, name: 'Shop', pay_secret_key: secretKey })
    await knex('accounts').insert({ id: accountId, shop_id: shopId, name: 'Ada' })
    await knex.destroy()
    await use({ url: url.href, accountId })
  } finally {
    await server.raw('drop database if exists ?? with (force)', [name])
    await server.destroy()
  }
}
