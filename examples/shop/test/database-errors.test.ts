import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { errorFromDatabase, failedAtDatabase, failedToConnect, mayPass } from '../src/database/errors.ts'
import { openPostgres } from '../src/database/index.ts'
import { bearer, build, openIdentityProvider } from './build.ts'
import { startRefusingPostgres } from './fake-postgres.ts'

type Meaning = 'ours' | 'database' | 'no error'

/** The classes of SQLSTATE: whose failure each is, except for some of its codes. */
const CLASSES: Readonly<Record<string, readonly [title: string, meaning: Meaning, ...others: string[]]>> = {
  '00': ['successful completion', 'no error'],
  '01': ['warning', 'no error'],
  '02': ['no data', 'no error'],
  '03': ['SQL statement not yet complete', 'ours'],
  '08': ['connection exception', 'database'],
  '09': ['triggered action exception', 'ours'],
  '0A': ['feature not supported', 'ours'],
  '0B': ['invalid transaction initiation', 'ours'],
  '0F': ['locator exception', 'ours'],
  '0L': ['invalid grantor', 'ours'],
  '0P': ['invalid role specification', 'ours'],
  '0Z': ['diagnostics exception', 'ours'],
  20: ['case not found', 'ours'],
  21: ['cardinality violation', 'ours'],
  22: ['data exception', 'ours'],
  23: ['integrity constraint violation', 'ours'],
  24: ['invalid cursor state', 'ours'],
  25: ['invalid transaction state', 'ours', '25006', '25P03', '25P04'],
  26: ['invalid SQL statement name', 'database'],
  27: ['triggered data change violation', 'ours'],
  28: ['invalid authorization specification', 'database'],
  '2B': ['dependent privilege descriptors still exist', 'ours'],
  '2D': ['invalid transaction termination', 'ours'],
  '2F': ['SQL routine exception', 'ours'],
  34: ['invalid cursor name', 'ours'],
  38: ['external routine exception', 'ours'],
  39: ['external routine invocation exception', 'ours'],
  '3B': ['savepoint exception', 'ours'],
  '3D': ['invalid catalog name', 'database'],
  '3F': ['invalid schema name', 'database'],
  40: ['transaction rollback', 'database'],
  42: ['syntax error or access rule violation', 'ours', '42501', '42P05'],
  44: ['WITH CHECK OPTION violation', 'ours'],
  53: ['insufficient resources', 'database'],
  54: ['program limit exceeded', 'ours'],
  55: ['object not in prerequisite state', 'database'],
  57: ['operator intervention', 'database'],
  58: ['system error', 'database'],
  72: ['snapshot failure', 'database'],
  F0: ['configuration file error', 'database'],
  HV: ['foreign data wrapper error', 'database'],
  P0: ['PL/pgSQL error', 'ours'],
  XX: ['internal error', 'database'],
  // Of a later version: nobody knows yet what it means.
  95: ['unknown', 'database']
}

/** Codes that have been met, or whose meaning differs from that of their class. */
const CODES = [
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '08P01',
  '22001',
  '22P02',
  '22P05',
  '23502',
  '23505',
  '25001',
  '25006',
  '25P01',
  '25P02',
  '25P03',
  '25P04',
  '26000',
  '28000',
  '28P01',
  '3D000',
  '3F000',
  '40001',
  '40002',
  '40003',
  '40P01',
  '42501',
  '42601',
  '42703',
  '42883',
  '42P01',
  '42P05',
  '53100',
  '53200',
  '53300',
  '53400',
  '54000',
  '54001',
  '55000',
  '55006',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '58000',
  '58030',
  '58P01',
  '72000',
  'F0000',
  'HV000',
  'P0001',
  'XX000',
  'XX001',
  'XX002'
]

t.test('each class of SQLSTATE is a failure of the database, which is 503, or our mistake', async (t) => {
  const codes = Object.keys(CLASSES).flatMap((name) => [`${name}000`, ...CODES.filter((code) => code.startsWith(name))])
  for (const code of new Set(codes)) {
    const [title, meaning, ...others] = CLASSES[code.slice(0, 2)]!
    if (meaning === 'no error') continue
    const isDatabase = (meaning === 'database') !== others.includes(code)
    const found = errorFromDatabase({ code })
    if (isDatabase) t.match(found, { statusCode: 503, code: 'SHOP_DATABASE_UNAVAILABLE' }, `${code}: ${title}`)
    else t.equal(found, undefined, `${code}: ${title}`)
  }
})

/** What PostgreSQL installs. */
const ERRCODES = ['15', '16', '17', '18'].map((version) => `/usr/share/postgresql/${version}/errcodes.txt`).find((
  path
) => existsSync(path))

t.test(
  'PostgreSQL has no other classes',
  { skip: ERRCODES === undefined && 'PostgreSQL is not installed' },
  async (t) => {
    const classes = new Set(
      [...readFileSync(ERRCODES!, 'utf8').matchAll(/^([0-9A-Z]{2})[0-9A-Z]{3}\s/gm)].map(([, name]) => name!)
    )
    t.strictSame([...classes].filter((name) => CLASSES[name] === undefined), [])
    t.ok(classes.size > 40)
  }
)

t.test('what the database says of a record becomes what a client can act on', async (t) => {
  for (
    const [error, status, code] of [
      [{ code: '23505', constraint: 'products_slug_taken' }, 409, 'SHOP_CONFLICT'],
      [{ code: '23503', constraint: 'products_category_id_exists' }, 422, 'SHOP_INVALID']
    ] as const
  ) t.match(errorFromDatabase(error), { statusCode: status, code }, JSON.stringify(error))
  t.equal(errorFromDatabase({ code: '23505', constraint: 'other' }), undefined)
})

const DRIVER = [
  'Connection terminated unexpectedly',
  'insert into "tags" ("name") values ($1) - Connection terminated unexpectedly',
  'Connection ended unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout'
]
const SYSTEM = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'ETIMEDOUT',
  'EPIPE',
  'EACCES',
  'ENOENT',
  'EMFILE'
]
const TLS = [
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER'
]
const errorOf = (code: string): Error => Object.assign(new Error(code), { code })

t.test('a number beyond its column is named, as far as PostgreSQL names it', async (t) => {
  for (
    const [message, told] of [
      [
        'select 1 where total = any($1) - value "3000000000" is out of range for type integer',
        '3000000000 is out of range for a stored integer'
      ],
      ['value "1e300" is out of range for type real', '1e300 is out of range for a stored real'],
      ['insert … - integer out of range', 'A number is out of range for a stored number'],
      ['numeric field overflow', 'A number is out of range for a stored number']
    ] as const
  ) {
    const error = errorFromDatabase({ code: '22003', message })
    t.match(error, { statusCode: 422, code: 'SHOP_OUT_OF_RANGE', message: told })
  }
})

t.test('a connection that breaks or cannot be opened is a failure of the database', async (t) => {
  for (const message of DRIVER) t.match(errorFromDatabase({ message }), { statusCode: 503 }, message)
  for (const code of [...SYSTEM, ...TLS]) {
    for (const mark of [failedAtDatabase, failedToConnect]) {
      t.match(errorFromDatabase(mark(errorOf(code))), { statusCode: 503 }, code)
    }
    t.equal(errorFromDatabase(errorOf(code)), undefined, `${code} of something else is not`)
  }
  t.match(errorFromDatabase(failedToConnect(new Error('The server does not support SSL connections'))), {
    statusCode: 503
  })
})

t.test('a mistake of this program is none of the database, although a statement failed', async (t) => {
  for (
    const error of [
      new TypeError('x'),
      Object.assign(new RangeError('x'), { code: 'ERR_OUT_OF_RANGE' }),
      new Error('A query must have either text or a name.'),
      Object.assign(new Error('x'), { code: 'SHOP_NO_INSTANT', statusCode: 500 }),
      errorOf('42703')
    ]
  ) {
    t.equal(errorFromDatabase(failedAtDatabase(error)), undefined, String(error))
  }
  for (const error of [{}, { message: 'Connection of the dots' }]) t.equal(errorFromDatabase(error), undefined)
})

t.test('a start waits for what may pass, and ends for what somebody has to mend', async (t) => {
  for (const code of ['08006', '25006', '40P01', '53300', '57P01', '57P03', '58030', 'XX000']) {
    t.ok(mayPass({ code }), code)
  }
  for (const code of SYSTEM) t.ok(mayPass(failedToConnect(errorOf(code))), code)
  for (const code of ['28000', '28P01', '3D000', '3F000', '42501', '42P01', '22P02']) t.notOk(mayPass({ code }), code)
  for (const code of TLS) t.notOk(mayPass(failedToConnect(errorOf(code))), code)
  for (
    const error of [
      new Error('The server does not support SSL connections'),
      Object.assign(new Error('unsupported startup parameter: statement_timeout'), { code: '08P01' })
    ]
  ) t.notOk(mayPass(failedToConnect(error)), error.message)
})

t.test('a server without its database answers 503 with Retry-After, and logs one line', async (t) => {
  const idp = await openIdentityProvider(t)
  const headers = bearer(await idp.machineToken())
  for (
    const url of [
      ...await Promise.all(
        ['28P01', '28000', '3D000', '57P03', '53300'].map(async (code) => await startRefusingPostgres(t, code))
      ),
      `${await startRefusingPostgres(t, '28000')}?sslmode=verify-full`,
      'postgres://shop@/shop?host=/nowhere',
      'postgres://shop@255.255.255.255:5432/shop'
    ]
  ) {
    const lines: Array<{ level: number, needed?: string, err?: object }> = []
    const away = openPostgres(url)
    t.teardown(async () => await away.close())
    const app = await build(t, away, idp, {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            lines.push(JSON.parse(line))
          }
        }
      }
    })
    for (let index = 0; index < 5; index++) {
      const { statusCode, headers: sent, body } = await app.inject({
        url: '/shops/00000000-0000-4000-8000-000000000000/tags',
        headers
      })
      t.strictSame(
        [statusCode, sent['retry-after'], JSON.parse(body).code],
        [503, '5', 'SHOP_DATABASE_UNAVAILABLE'],
        url
      )
    }
    t.strictSame(lines.filter(({ needed }) => needed !== 'identity_provider').map(({ needed, err }) => [needed, err]), [
      ['database', undefined]
    ], url)
  }
})
