import t from 'tap'
import { errorFromDatabase } from '../src/database/errors.ts'

t.test('what the database says becomes what a client can act on', async (t) => {
  for (const [error, status, code] of [
    [{ code: '23505', constraint: 'products_slug_taken' }, 409, 'SHOP_CONFLICT'],
    [{ code: '23503', constraint: 'products_category_id_exists' }, 422, 'SHOP_INVALID'],
    [{ code: '57P01' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '53100' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '53200' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '53300' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '53400' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '25006' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '55P03' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '57P05' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '25P03' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '25P04' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: '08006' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ code: 'ECONNREFUSED' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'Connection terminated unexpectedly' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'insert into "tags" ("name") values ($1) - Connection terminated unexpectedly' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'Connection ended unexpectedly' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'Client has encountered a connection error and is not queryable' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'Client was closed and is not queryable' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'timeout expired' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'timeout exceeded when trying to connect' }, 503, 'SHOP_DATABASE_UNAVAILABLE'],
    [{ message: 'Query read timeout' }, 503, 'SHOP_DATABASE_UNAVAILABLE']
  ] as const) {
    const found = errorFromDatabase(error)
    t.match(found, { statusCode: status, code }, JSON.stringify(error))
  }
  for (const error of [{}, { code: '42601' }, { code: '23505', constraint: 'other' }, { message: 'Connection of the dots' }, { message: 'A query must have either text or a name.' }]) {
    t.equal(errorFromDatabase(error), undefined, JSON.stringify(error))
  }
})
