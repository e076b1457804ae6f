import t from 'tap'
import { errorFromDatabase } from '../src/database/errors.ts'

t.test('what the database says becomes what a client can act on', async (t) => {
  for (const [error, status, code] of [
    [{ code: '23505', constraint: 'products_slug_taken' }, 409, 'SHOP_CONFLICT'],
    [{ code: '23503', constraint: 'products_category_id_exists' }, 422, 'SHOP_INVALID'],
    ...['57P01', '53100', '53200', '53300', '53400', '25006', '55P03', '57P05', '25P03', '25P04', '08006', 'ECONNREFUSED'].map((code) => [{ code }, 503, 'SHOP_DATABASE_UNAVAILABLE'] as const),
    ...[
      'Connection terminated unexpectedly', 'insert into "tags" ("name") values ($1) - Connection terminated unexpectedly', 'Connection ended unexpectedly', 'Client has encountered a connection error and is not queryable',
      'Client was closed and is not queryable', 'timeout expired', 'timeout exceeded when trying to connect', 'Query read timeout'
    ].map((message) => [{ message }, 503, 'SHOP_DATABASE_UNAVAILABLE'] as const)
  ] as const) {
    const found = errorFromDatabase(error)
    t.match(found, { statusCode: status, code }, JSON.stringify(error))
  }
  for (const error of [{}, { code: '42601' }, { code: '23505', constraint: 'other' }, { message: 'Connection of the dots' }, { message: 'A query must have either text or a name.' }]) {
    t.equal(errorFromDatabase(error), undefined, JSON.stringify(error))
  }
})
