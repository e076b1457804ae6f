import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { importSteps } from '../src/imports/step.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/*
 * What the page of an import in the console is made of: whose file it was, each line by its outcome, what was undone,
 * and the lines that failed as a file that can be sent again.
 */

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner'])
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000, MAX_EVENT_LOOP_DELAY: 0 } })
const machine = bearer(await idp.machineToken())
const owner = bearer(await idp.userToken('owner'))
const ownerId = (await client(app, '', owner)('GET', '/me')).body.id as string

type Body = Record<string, any>
let shops = 0

async function openShop () {
  const id = await createShop(database, `shop-${++shops}`)
  await knex('shop_members').insert({ shop_id: id, user_id: ownerId, role: 'owner' })
  const as = client(app, `/shops/${id}`, owner)
  const send = async (type: string, payload: string, query: string) =>
    await app.inject({
      method: 'POST',
      url: `/shops/${id}/imports${query}`,
      headers: { ...owner, 'content-type': type },
      payload
    })
  return {
    id,
    as,
    send,
    imported: async (type: string, payload: string, query = ''): Promise<Body> => {
      const { body } = await send(type, payload, query)
      for (;;) {
        const { body: found } = await as('GET', `/imports/${JSON.parse(body).id as string}`)
        if (!['pending', 'running'].includes(found.status)) return found
        await sleep(20)
      }
    },
    failed: async (importId: string) => {
      const { statusCode: status, headers, body } = await app.inject({
        url: `/shops/${id}/imports/${importId}/failed`,
        headers: owner
      })
      return { status, headers, body }
    },
    linesOf: async (importId: string, status: readonly string[]): Promise<Body[]> =>
      (await as('GET', `/imports/${importId}/lines?filter=${encodeURIComponent(JSON.stringify({ status }))}`)).body,
    products: async (): Promise<Body[]> =>
      await knex('products').where({ shop_id: id }).orderBy('name').select('id', 'name', 'sku', 'price_amount')
  }
}

const FILE = `name,sku,price,status
Cosy,TC-1,19.00,active
"Kettle, large",TK-1,"1,900",active
Mug,TM-1,9.50,active
=Pot,TP-1,-3,brewing
Tray,TT-1,12.00,draft
`

t.test('an import says who sent it: the API key by its name, and a machine by none', async (t) => {
  const { id, as } = await openShop()
  // Elsewhere keys import nothing.
  const app = await build(t, database, idp, { settings: { MCP_IMPORTS_ENABLED: true } })
  const made = await client(app, `/shops/${id}`, machine)('POST', '/api-keys/', { name: 'Night robot' })
  const callers = [[bearer(made.body.plaintext), 'api-key', 'Night robot'], [machine, 'machine', null]] as const
  for (const [headers, kind, name] of callers) {
    const { body } = await client(app, `/shops/${id}`, headers)('POST', '/imports', {
      format: 'csv',
      content: 'name\nTea'
    })
    t.match(body, { actor_kind: kind, actor_name: name, file_name: null }, JSON.stringify(body))
    t.match((await as('GET', `/imports/${body.id as string}`)).body, { actor_kind: kind, actor_name: name })
  }
})

t.test('the lines that failed are corrected and sent again, and no other product is touched', async (t) => {
  const { imported, failed, linesOf, products } = await openShop()
  const first = await imported('text/csv', FILE, '?skip_invalid=true&file_name=teas.csv')
  t.match(first, {
    status: 'done',
    created: 3,
    failed: 2,
    file_name: 'teas.csv',
    actor_kind: 'user',
    actor_id: ownerId,
    actor_name: 'owner',
    reverted: 0
  }, JSON.stringify(first))
  t.match(await linesOf(first['id'], ['failed']), [
    { line: 3, field: 'price', product_id: null },
    { line: 5, field: 'status' }
  ])
  t.match((await linesOf(first['id'], ['created', 'unchanged'])).map(({ line }) => line), [2, 4, 6])

  const { status, headers, body } = await failed(first['id'])
  t.match([status, headers], [200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="failed-lines.csv"'
  }])
  const [head, ...rows] = body.replace('\ufeff', '').trimEnd().split('\r\n')
  t.equal(head, '"error","name","sku","price","status"')
  t.match(rows, [
    /^"price is ""1,900"", which may be [^"]+","Kettle, large","TK-1","1,900","active"$/,
    /^"[^"]*status[^"]+","'=Pot","TP-1","-3","brewing"$/
  ])
  const before = await products()

  // As it is, each line fails as before, for the same reason.
  const again = await imported('text/csv', body, '?skip_invalid=true')
  t.match(again, { created: 0, updated: 0, unchanged: 0, failed: 2, warnings: [] }, JSON.stringify(again))
  t.equal((await failed(again['id'])).body, body, 'and the file of these is the same: it has one error a line')

  const corrected = body.replace(',"1,900",', ',"1900",').replace('"-3"', '"3"').replace('brewing', 'active')
  const second = await imported('text/csv', corrected)
  t.match(second, { status: 'done', total: 2, created: 2, updated: 0, failed: 0, errors: [] }, JSON.stringify(second))
  t.match((await products()).filter(({ sku }) => ['TK-1', 'TP-1'].includes(sku)), [
    { name: '=Pot', price_amount: 300 },
    { name: 'Kettle, large', price_amount: 190000 }
  ])
  const old = before.map(({ id }) => id as string)
  t.strictSame((await products()).filter(({ id }) => old.includes(id)), before)
  t.equal((await failed(second['id'])).body, '\ufeff"error","name","sku","price","status"\r\n')
})

const csvFiles: ReadonlyArray<readonly [string, string, string, string]> = [
  ['a semicolon separates the cells', 'name;status\nA;x;\n', '"name","status"', '"A","x",'],
  ['too many cells', 'name,sku\nTea, green,T-1\n', '"name","sku"', '"Tea"," green","T-1"'],
  ['too few cells', 'name,sku,price\nTea,9.00\n', '"name","sku","price"', '"Tea","9.00"'],
  ['empty cells, and those in quotes', 'name,sku,status\n,"",x\n', '"name","sku","status"', ',"","x"'],
  ['a cell that this server wrote', "name,status\n'=A,x\n", '"name","status"', '"\'=A","x"'],
  ['columns in another case', ' Name,STATUS\nA,x\n', '" Name","STATUS"', '"A","x"'],
  ['columns that no product has', 'name,colour,status,\nA,red,x,\n', '"name","status",', '"A","x",'],
  ['a cell that no column of JSON could hold', 'name,status\nA\0B,x\n', '"name","status"', '"A\0B","x"'],
  ['an error of an earlier import, anywhere', 'name,ERROR,status\nA,why,x\n', '"name","status"', '"A","x"'],
  [
    'the file of another system keeps all its columns',
    'Handle,Title,Variant Price,Vendor\na,,9,Me\n',
    '"Handle","Title","Variant Price","Vendor"',
    '"a",,"9","Me"'
  ]
]

t.test('each line of CSV is as it was', async (t) => {
  const { imported, failed } = await openShop()
  for (const [name, file, head, row] of csvFiles) {
    const { id, failed: count } = await imported('text/csv', file, '?skip_invalid=true')
    const { body } = await failed(id)
    t.equal(count, 1, name)
    const [first, line] = body.replace('\ufeff', '').split('\r\n') as [string, string]
    t.strictSame([first, line.replace(/^"(?:[^"]|"")*"/, '')], [`"error",${head}`, `,${row}`], name)
  }
})

const jsonLines: ReadonlyArray<readonly [string, string, string]> = [
  ['an object', '{"name":"A","status":"x"}', ',"name":"A","status":"x"}'],
  ['an empty object', ' { } ', '} '],
  ['broken JSON', '{"name":"A",}', ',"name":"A",}'],
  ['no object', '[1]', '}'],
  ['with an error of an earlier import', '{"error":"old","name":1}', ',"name":1}'],
  ['nested deeper than programs read', `{"metadata":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, ''],
  ['a character that no text can hold', '{"name":"A\u0000"}', ',"name":"A"}']
]

t.test('a file of JSON lines gives JSON lines, each as it was', async (t) => {
  const { imported, failed } = await openShop()
  for (const [name, line, rest] of jsonLines) {
    const { id, failed: count } = await imported('application/x-ndjson', `${line}\n`, '?skip_invalid=true')
    const { body, headers } = await failed(id)
    t.strictSame([count, headers['content-type']], [1, 'application/x-ndjson'], name)
    const [, error = ''] = /^\{"error":"((?:[^"\\]|\\.)+)"/.exec(body) ?? []
    t.not(error, '', name)
    t.ok(body.endsWith(`${rest || line.slice(1)}\n`), `${name}: ${body.slice(0, 300)}`)
  }
  const { id } = await imported(
    'application/x-ndjson',
    '{"name":"Good"}\n{"name":"Bad","status":"x"}',
    '?skip_invalid=true'
  )
  const mended = (await failed(id)).body.replace('"x"', '"active"')
  t.match(await imported('application/x-ndjson', mended), { status: 'done', created: 1, failed: 0 })
})

t.test('a line that fails after the check is in the file too; others keep nothing of theirs', async (t) => {
  const { id, as, send, linesOf, failed } = await openShop()
  const { body: { id: pot } } = await as('POST', '/products', { name: 'Pot', sku: 'P-1', price_amount: 100 })
  // Its turn comes after one that is not over.
  await knex('imports').insert({ shop_id: id, actor: '{}', status: 'pending', created_at: new Date(0) })
  const sent = JSON.parse((await send('text/csv', 'name,sku,price\nPot,P-1,2.00\nCup,C-1,3.00\n', '')).body) as Body
  await as('PATCH', `/products/${pot}`, { price_amount: 150 })
  await knex('imports').where({ shop_id: id, created_at: new Date(0) }).delete()
  const { step } = importSteps(knex, () => {})
  while (await step());
  t.match(await linesOf(sent['id'], ['failed']), [{ line: 2, field: 'price_amount' }])
  t.match((await failed(sent['id'])).body, /\r\n"price_amount was changed [^"]+","Pot","P-1","2.00"\r\n$/)
  t.strictSame(
    await knex('import_lines').where({ import_id: sent['id'] }).orderBy('line').pluck('source'),
    ['["Pot","P-1","2.00"]', null]
  )
})

t.test('wrong lines have failed also where an import did not get to; the others are skipped', async (t) => {
  const { id, as, send, linesOf } = await openShop()
  await knex('imports').insert({ shop_id: id, actor: '{}', status: 'pending', created_at: new Date(0) })
  const { id: sent } = JSON.parse((await send('text/csv', 'name,status\nA,\nB,x\n', '?skip_invalid=true')).body)
  t.equal((await as('DELETE', `/imports/${sent as string}`)).status, 204)
  t.match((await as('GET', `/imports/${sent as string}`)).body, {
    status: 'cancelled',
    total: 2,
    created: 0,
    failed: 1
  })
  t.match((await linesOf(sent, ['skipped', 'failed'])).map(({ status }) => status), ['skipped', 'failed'])
  t.strictSame(
    await knex('import_lines').where({ import_id: sent }).where('position', '>', 0).orderBy('line').pluck('source'),
    [null, '["B","x"]']
  )
  await knex('imports').where({ shop_id: id }).delete()
})

t.test('an import says how many of its changes were undone', async (t) => {
  const { as, imported } = await openShop()
  const { body: { id: known } } = await as('POST', '/products', { name: 'Known', sku: 'K-1', price_amount: 100 })
  const { id } = await imported('text/csv', 'name,sku,price\nKnown,K-1,2.00\nA,A-1,\nB,B-1,\n')
  const reverted = async (): Promise<number> => (await as('GET', `/imports/${id as string}`)).body.reverted
  t.equal(await reverted(), 0)
  await as('PATCH', `/products/${known as string}`, { price_amount: 300 })
  t.equal((await as('POST', '/history/revert', { import_id: id, skip_conflicts: true })).body.reverted, 2)
  t.equal(await reverted(), 2)
  await as('PATCH', `/products/${known as string}`, { price_amount: 200 })
  t.equal((await as('POST', '/history/revert', { import_id: id })).body.reverted, 1)
  t.equal(await reverted(), 3)
  const filter = encodeURIComponent(JSON.stringify({ operation: 'revert_changes', record_id: known }))
  const [undo] = (await as('GET', `/history?filter=${filter}`)).body
  t.equal((await as('POST', `/history/${undo.id as string}/revert`)).status, 200)
  t.equal(await reverted(), 2, 'an undo that was undone is none')
})

t.test('the name of a file is a short text, and lists filter by it', async (t) => {
  const { as, imported } = await openShop()
  await imported('text/csv', 'name\nA\n')
  await imported('text/csv', 'name\nB\n', `?file_name=${encodeURIComponent('Tee & Käse.csv')}`)
  const filter = encodeURIComponent(JSON.stringify({ file_name: 'Tee & Käse.csv' }))
  t.match((await as('GET', '/imports')).body.map(({ file_name: name }: Body) => name), ['Tee & Käse.csv', null])
  t.match((await as('GET', `/imports?filter=${filter}`)).body.length, 1)
  for (const name of ['', 'x'.repeat(256)]) {
    t.match(await as('POST', `/imports?file_name=${name}`, { format: 'csv', content: 'name\nC\n' }), {
      status: 422,
      body: { field: 'file_name' }
    })
  }
})

t.test('imports that an earlier version received have errors alone', async (t) => {
  const { id, imported, failed } = await openShop()
  const { id: old } = await imported('text/csv', 'name,status\nA,x\n', '?skip_invalid=true')
  await knex('imports').where({ id: old }).update({ headings: null })
  await knex('import_lines').where({ import_id: old }).update({ source: null })
  t.match((await failed(old)).body, /^\{"error":"[^"]*status[^}]+\}\n$/)
  t.match((await client(app, `/shops/${id}`, machine)('GET', `/imports/${old as string}`)).body, { file_name: null })
})

t.test('files of which many lines failed are read a part at a time', async (t) => {
  const { imported, failed, id } = await openShop()
  const lines = Array.from({ length: 321 }, (_, n) => `P ${n},x`)
  const sent = await imported('text/csv', ['name,status', ...lines].join('\n'), '?skip_invalid=true')
  const rows = (await failed(sent['id'])).body.trimEnd().split('\r\n').slice(1)
  t.strictSame(rows.map((row) => row.slice(row.indexOf('"P '))), lines.map((line) => `"${line.replace(',', '","')}"`))
  t.equal((await failed(id)).status, 404)
})
