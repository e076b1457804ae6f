import createError from '@fastify/error'
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import type { Knex } from 'knex'
import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import payReconcile, { type PayReconcileOptions } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { startPayStandIn, type PayStandIn } from '../src/testing/index.ts'

interface Teardown {
  teardown(end: () => unknown): void
}

const UNAUTHORIZED = createError('HOST_UNAUTHORIZED', 'Log in first', 401)
const FORBIDDEN = createError('HOST_FORBIDDEN', 'For superusers only', 403)

export const superuser = { authorization: 'Bearer superuser' }

export interface ShopOptions {
  readonly name?: string
  readonly key?: string | null
  readonly id?: string
}

/** A host with the plugin in it, its database and its payment provider. */
export interface World {
  readonly app: FastifyInstance
  readonly knex: Knex
  readonly standIn: PayStandIn
  /** Everything logged so far. */
  readonly logs: () => string
  call(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object): Promise<LightMyRequestResponse>
  addShop(options?: ShopOptions): Promise<string>
  addAccount(
    shopId: string,
    details?: unknown,
    fields?: { id?: string, name?: string, hash_name?: string | null }
  ): Promise<string>
  detailsOf(accountId: string): Promise<Record<string, unknown> | null>
  audit(accountId: string): Promise<Array<Record<string, unknown>>>
}

/** The namespace of a host whose ids are of a type other than uuid. */
export const namespaceFor = (idType: string): { readonly namespace?: string } =>
  idType === 'uuid' ? {} : { namespace: 'test' }

/** The metadata of a customer that names an account of this host. */
export const naming = (accountId: string, idType: string) => ({
  account_id: accountId,
  ...(idType !== 'uuid' && { account_namespace: 'test' })
})

export const shopKey = 'sk_test_shopA00000000000000000000'

export async function build (t: Teardown, knex: Knex, options: Partial<PayReconcileOptions> = {}): Promise<World> {
  const standIn = await startPayStandIn({ accounts: { [shopKey]: {} }, log: () => {} })
  t.teardown(() => standIn.close())
  return { ...await host(t, knex, standIn, options) }
}

/** Another process over the same database and provider. */
export async function host (
  t: Teardown,
  knex: Knex,
  standIn: PayStandIn,
  options: Partial<PayReconcileOptions> = {}
): Promise<World> {
  const lines: string[] = []
  const stream = new Writable({
    write (chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    }
  })
  const app = Fastify({ logger: { level: 'trace', stream } })
  t.teardown(() => app.close())
  const { host, port, protocol } = standIn
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    provider: stripeProvider({ host, port, protocol }),
    runs: knexRunStore(knex),
    authorize: async (request) => {
      if (request.headers.authorization === undefined) throw new UNAUTHORIZED()
      if (request.headers.authorization !== superuser.authorization) throw new FORBIDDEN()
    },
    actor: () => 'user-1',
    ...options
  })
  await app.ready()

  return {
    app,
    knex,
    standIn,
    logs: () => lines.join(''),
    call: (method, url, payload) => app.inject({ method, url, headers: superuser, ...(payload && { payload }) }),
    async addShop ({ name = 'Shop A', key = shopKey, id = randomUUID() } = {}) {
      await knex('shops').insert({ id, name, pay_secret_key: key })
      return id
    },
    async addAccount (shopId, details = {}, { id = randomUUID(), name = 'Ada', hash_name: hashName = null } = {}) {
      await knex('accounts').insert({
        id,
        shop_id: shopId,
        name,
        hash_name: hashName,
        details: details === null ? null : JSON.stringify(details)
      })
      return id
    },
    async detailsOf (accountId) {
      const row = await knex('accounts').where('id', accountId).first('details')
      return row.details
    },
    async audit (accountId) {
      return await knex('pay_reconcile_audit').where('account_id', accountId).orderBy('at')
        .select('actor', 'action', 'shop_id', 'run_id', 'before', 'after', 'provider_request_id', 'request_id')
    }
  }
}
