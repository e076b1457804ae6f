import t from 'tap'
import { knexAccountStore } from '../src/knex/index.ts'
import { pglite } from './database.ts'
import { build } from './world.ts'

const error = (fields: object): Error => Object.assign(new Error('connect to db.internal failed'), fields)

t.test('a store that fails is 503 with Retry-After; what no later moment changes is 500', async (t) => {
  const knex = await pglite.connect(t)
  for (
    const [title, thrown, statusCode] of [
      ['no route to the database', error({ code: 'EHOSTUNREACH' }), 503],
      ['the connection is gone', error({}), 503],
      ['the database is starting', error({ code: '57P03' }), 503],
      ['a password that is refused', error({ code: '28P01' }), 503],
      ['a right that is missing', error({ code: '42501' }), 503],
      ['a store behind HTTP', new TypeError('fetch failed', { cause: error({ code: 'ECONNREFUSED' }) }), 503],
      ['a table that is missing', error({ code: '42P01' }), 500],
      ['a value that does not fit', error({ code: '22003' }), 500],
      ['a mistake in the store', new TypeError('rows is undefined'), 500]
    ] as const
  ) {
    const accounts = { ...knexAccountStore(knex), list: async () => await Promise.reject(thrown) }
    const { call, app } = await build(t, knex, { accounts })
    const response = await call('GET', '/admin/accounts')
    t.strictSame([response.statusCode, response.headers['retry-after']], [
      statusCode,
      statusCode === 503 ? '5' : undefined
    ], title)
    t.match(response.json(), {
      statusCode,
      code: 'PAY_RECONCILE_STORE_FAILED',
      message: 'Accounts, shops or runs could not be read or stored'
    })
    await app.close()
  }
})
