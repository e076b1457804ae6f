import t from 'tap'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AccountStore, AuditEntry } from '../src/index.ts'
import { run as command } from '../src/cli/run.ts'
import { csv } from '../src/csv/index.ts'
import { knexAccountStore } from '../src/knex/index.ts'
import { fast, finished, start } from './bulk.ts'
import { engines } from './database.ts'
import { build, host, superuser } from './world.ts'
import { csvLine } from '../../../shared/csv-line.ts'

const options = { ...fast, extensions: [csv()] }

t.test('no cell of a line starts like a formula', async (t) => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']) {
    for (const before of start < ' ' ? [''] : ['', ' ', '\u00a0\u200b', "'"]) {
      t.equal(csvLine([`${before}${start}=1`]), `"'${before}${start}=1"\r\n`, JSON.stringify(before + start))
    }
  }
  t.equal(csvLine(['-1.5', '1', "it's", ' 1']), '"-1.5","1","it\'s"," 1"\r\n')
})

for (const engine of engines) {
  t.test(`lists as CSV on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const world = await build(t, knex, options)
    const { call, addShop, addAccount, app } = world
    const shopId = await addShop({ name: 'Kettle, "Copper"' })
    const names = [
      '=HYPERLINK("http://example.org")',
      '+1',
      '@sum',
      '-2+3',
      '-2',
      '\uff1d1',
      ' =1',
      'two\nlines',
      '\tTab',
      'O\u202ehara',
      'plain'
    ]
    for (const [n, name] of names.entries()) {
      await addAccount(shopId, {}, { id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, name })
    }
    const { id: runId } = await finished(world, await start(world, { mode: 'check' }))

    await t.test('the items of a run, with cells that no spreadsheet takes for a formula', async (t) => {
      const { statusCode, headers, body } = await call('GET', `/admin/accounts/reconcile/${runId}?format=csv`)
      t.match([statusCode, headers], [200, {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="run-${runId}.csv"`
      }])
      const [head, ...lines] = body.split('\r\n')
      t.equal(
        head,
        '"item","account_id","account_name","shop_id","shop_name","outcome","differences","before","after","reason",' +
          '"error_code","provider_request_id","field","stored","live","candidate","match","candidate_name",' +
          '"candidate_email","candidate_linked","candidate_metadata"'
      )
      t.strictSame(lines.map((line) => line.split('","')[2]), [
        '\'=HYPERLINK(""http://example.org"")',
        "'+1",
        "'@sum",
        "'-2+3",
        '-2',
        "'\uff1d1",
        "' =1",
        'two\\u000alines',
        '\\u0009Tab',
        'O\\u202ehara',
        'plain',
        undefined
      ])
      t.match(lines[0], /,"Kettle, ""Copper""","different","missing",/)
    })

    await t.test('filters hold, pages are refused', async (t) => {
      const linesOf = async (query: string) =>
        (await call('GET', `/admin/accounts/reconcile/${runId}?format=csv&${query}`)).body.split('\r\n').length - 2
      t.equal(await linesOf('outcome=failed'), 0)
      t.equal(await linesOf('differences=missing'), names.length)
      t.equal(await linesOf(`since=${runId}`), 0)
      for (
        const [path, field] of [
          [`reconcile/${runId}?format=csv&limit=5`, 'limit'],
          [`reconcile/${runId}?format=csv&skip=5`, 'skip'],
          ['audit?format=csv&range=[0,1]', 'range'],
          ['audit?format=xml', 'format'],
          ['audit?format=csv&format=csv', 'format']
        ]
      ) {
        const { statusCode, body } = await call('GET', `/admin/accounts/${path}`)
        t.match([statusCode, JSON.parse(body)], [422, { code: 'PAY_RECONCILE_VALIDATION', field }], String(path))
      }
      t.equal((await call('GET', `/admin/accounts/reconcile/${randomUUID()}?format=csv`)).statusCode, 404)
      t.equal((await app.inject({ url: '/admin/accounts/audit?format=csv' })).statusCode, 401)
      t.match((await call('GET', '/admin/accounts/audit?format=json')).headers, {
        'content-type': 'application/json; charset=utf-8',
        'content-range': 'audit 0-100/0'
      })
    })

    await t.test('an audit of many pages is whole, and the same as that of the command', async (t) => {
      await knex.raw(
        `insert into pay_reconcile_audit (registration, actor, action, account_id, shop_id, before, after, at)
        select 'accounts', '=' || n, 'link', 'a', 's', '{}', '{}', now() - n * interval '1 second'
          from generate_series(1, 2500) n`
      )
      const { body } = await call('GET', '/admin/accounts/audit?format=csv')
      const lines = body.split('\r\n').slice(1, -1)
      t.equal(new Set(lines).size, 2500)
      t.match([lines[0], lines[2499]], [/,"'=2500","link",/, /,"'=1","link",/], 'oldest first')
      const [newest] = (await call('GET', '/admin/accounts/audit?format=csv&sort=-at')).body.split('\r\n').slice(1)
      t.match(newest, /,"'=1","link",/)
      const url = await app.listen({ port: 0 })
      const file = join(t.testdir({}), 'audit.csv')
      const sink = { isTTY: false, columns: 80, write: () => true }
      t.equal(
        await command(['--url', `${url}/admin/accounts`, '--audit', '--csv', file], {
          PAY_RECONCILE_TOKEN: superuser.authorization.slice(7)
        }, { stdout: sink, stderr: sink } as never),
        0
      )
      t.equal(await readFile(file, 'utf8'), body)
    })

    await t.test('a failure before the first line has a status, a later one breaks the connection', async (t) => {
      const accounts = knexAccountStore(knex)
      let allowed = 0
      const failing = await host(t, knex, world.standIn, {
        ...options,
        accounts: {
          ...accounts,
          audit: async (query) => {
            if (query.skip >= allowed) throw new Error('down')
            return await accounts.audit(query)
          }
        }
      })
      t.match((await failing.call('GET', '/admin/accounts/audit?format=csv')).json(), {
        statusCode: 503,
        code: 'PAY_RECONCILE_STORE_FAILED'
      })
      allowed = 1500
      const url = await failing.app.listen({ port: 0 })
      const response = await fetch(`${url}/admin/accounts/audit?format=csv`, { headers: superuser })
      t.equal(response.status, 200)
      await t.rejects(response.text(), 'the client sees that the file is not whole')
    })

    await t.test('who is no superuser any more gets no more of a file that is under way', async (t) => {
      await knex.raw(`insert into pay_reconcile_items (run_id, account_id, shop_id, outcome, item)
        select run_id, 'a' || n, shop_id, outcome, item from pay_reconcile_items, generate_series(1, 2500) n
          where account_id = '00000000-0000-4000-8000-000000000000'`)
      const asked: unknown[] = []
      const losing = await host(t, knex, world.standIn, {
        ...options,
        mayContinue: async (work) => asked.push(work) === 1
      })
      const url = await losing.app.listen({ port: 0 })
      for (const [path, id] of [['audit', null], [`reconcile/${runId}`, runId]] as const) {
        const response = await fetch(`${url}/admin/accounts/${path}?format=csv`, { headers: superuser })
        await t.rejects(response.text(), path)
        t.strictSame(
          asked.splice(0),
          [{ id, actor: 'user-1' }, { id, actor: 'user-1' }],
          'before the second page and the third'
        )
      }
      t.match(losing.logs(), 'PAY_RECONCILE_RUN_FORBIDDEN')
    })

    await t.test('pages are read until the file is whole, or the list has become shorter', async (t) => {
      const entry = { before: {}, after: {} } as AuditEntry
      const reads: unknown[] = []
      let [length, count] = [0, 0]
      const audit: AccountStore['audit'] = async ({ skip, limit }) => {
        reads.push([skip, limit])
        return { entries: Array.from({ length: Math.min(limit, Math.max(length - skip, 0)) }, () => entry), count }
      }
      const { call } = await host(t, knex, world.standIn, {
        ...options,
        accounts: { ...knexAccountStore(knex), audit }
      })
      for (
        const [found, counted, wanted] of [
          [0, 0, [[0, 1000]]],
          [1000, 1000, [[0, 1000]]],
          [1001, 1001, [[0, 1000], [1000, 1000]]],
          [1000, 1500, [[0, 1000], [1000, 1000]]],
          [700, 1500, [[0, 1000], [700, 1000]]]
        ] as const
      ) {
        reads.length = 0
        length = found
        count = counted
        t.equal((await call('GET', '/admin/accounts/audit?format=csv')).body.split('\r\n').length, found + 2)
        t.strictSame(reads, wanted, `${found} of ${counted}`)
      }
    })
  })
}
