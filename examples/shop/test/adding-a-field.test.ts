import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startIdentityProvider, subjectOf } from 'identity-provider'
import t, { type Test } from 'tap'
import { freePort } from '../../../shared/free-port.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { faultsOf, signIn } from '../../console/test/browser.ts'

/*
 * The steps of "Add a field" in CONTRIBUTING.md, in a copy of the shop: the new fields are then in everything that the
 * shop does with a record.
 */

const repository = fileURLToPath(new URL('../../..', import.meta.url))

type Body = Record<string, any>

/** A column of each type, and its values: at first, and after a change. */
const FIELDS = {
  barcode: {
    type: 'text',
    schema: "Nullable(Type.String({ maxLength: 50, description: 'GTIN' }))",
    values: ['4006381333931', '=SUM(1)']
  },
  fragile: {
    type: 'boolean',
    schema: "Nullable(Type.Boolean({ description: 'Whether it breaks' }))",
    values: [true, false]
  },
  pieces: { type: 'integer', schema: "Nullable(Type.Integer({ description: 'In a box' }))", values: [5, -7] },
  tested_at: {
    type: 'timestamptz',
    schema: "Nullable(Type.String({ format: 'date-time', description: 'The last test' }))",
    values: ['2026-01-02T03:04:05.678Z', '2026-02-03T04:05:06.789Z']
  },
  size: {
    type: 'jsonb',
    schema: "Nullable(Type.Object({}, { additionalProperties: true, description: 'In cm' }))",
    values: [{ h: 1.5, w: [2] }, { h: 3 }]
  }
} as const

/**
 * The files with the fields of records, and before which one the new ones come: the first, since others may be added
 * behind it.
 */
const PLACES = {
  products: ['catalog/product-fields.ts', 'name: Name'],
  categories: ['catalog/category-schemas.ts', 'name: Name'],
  tags: ['catalog/tag-schemas.ts', 'name: Name'],
  attributes: ['catalog/attribute-schemas.ts', 'name: Name'],
  prices: ['shops/price-schemas.ts', 'product_id: ProductId'],
  accounts: ['shops/account-schemas.ts', 'name: Name']
} as const

const COLUMNS = Object.entries(FIELDS).map(([name, { type }]) => `add ${name} ${type}`).join(', ')

const at = (when: 0 | 1): Body =>
  Object.fromEntries(Object.entries(FIELDS).map(([name, { values }]) => [name, values[when]]))
const [first, second] = [at(0), at(1)]
const none = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, null]))

function editFile (file: string, from: string, to: string): void {
  const source = readFileSync(file, 'utf8')
  if (!source.includes(from)) throw new Error(`${file} has no ${from}`)
  writeFileSync(file, source.replace(from, () => to))
}

/** @returns the folder of a copy of the shop and its console, in which each record has the new fields */
function copyWithFields (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'adding-a-field-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of ['node_modules', 'packages', 'shared', 'test', 'tsconfig.json', 'package.json']) {
    symlinkSync(join(repository, path), join(folder, path))
  }
  for (
    const path of [
      'shop/src',
      'shop/dist/shared',
      'shop/skills',
      'shop/test',
      'shop/package.json',
      'shop/node_modules',
      'console/src',
      'console/package.json',
      'console/tsconfig.json',
      'console/vite.config.ts',
      'console/index.html',
      'console/build.js'
    ]
  ) cpSync(join(repository, 'examples', path), join(folder, 'examples', path), { recursive: true })
  symlinkSync(join(folder, 'examples/console'), join(folder, 'examples/shop/node_modules/shop-console'))
  const edit = (path: string, from: string, to: string): void =>
    editFile(join(folder, 'examples/shop/src', path), from, to)
  const schemas = Object.entries(FIELDS).map(([name, { schema }]) =>
    `  ${name}: ${schema.replace('Nullable', 'OrNull').replaceAll('Type.', 'Any.')}`
  ).join(',\n')
  for (const [path, next] of Object.values(PLACES)) {
    edit(path, `  ${next},\n`, `${schemas},\n  ${next},\n`)
    edit(
      path,
      'import',
      "import { Type as Any } from '@sinclair/typebox'\nimport { Nullable as OrNull } from '../http/schemas.ts'\nimport"
    )
  }
  writeFileSync(
    join(folder, 'examples/shop/src/migrations/999-fields.ts'),
    `
    import type { Migration } from './migration.ts'
    export const fields: Migration = { up: async (knex) => { await knex.raw(\`${
      Object.keys(PLACES).map((table) => `alter table ${table} ${COLUMNS}`).join('; ')
    }\`) } }
  `
  )
  edit('migrations/index.ts', 'import ', "import { fields } from './999-fields.ts'\nimport ")
  edit('migrations/index.ts', '\n}', ",\n  '999-fields': fields\n}")
  return folder
}

const folder = copyWithFields(t)
const from = async (path: string) => await import(pathToFileURL(join(folder, 'examples/shop', path)).href)

const { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } = await from(
  'test/build.ts'
) as typeof import('./build.ts')
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000 } })
const machine = bearer(await idp.machineToken())
const shop = await createShop(database, 'here')
const as = client(app, `/shops/${shop}`, machine)
const done = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Body> => {
  const { status, body: answer } = await as(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
  return answer
}
const changesOf = async (id: string): Promise<Body[]> =>
  await done('GET', `/history?sort=-at&filter=${encodeURIComponent(JSON.stringify({ record_id: id }))}`) as Body[]
const undo = async (id: string): Promise<Body> =>
  await done('POST', `/history/${(await changesOf(id))[0]!['id']}/revert`)
const used = async (): Promise<number> =>
  Number((await knex('shop_usage').where({ shop_id: shop }).sum({ bytes: 'bytes' }).first())!['bytes'])

const product = await done('POST', '/products', { name: 'Priced' })

for (
  const [table, input] of Object.entries({
    products: { name: 'A' },
    categories: { name: 'A' },
    tags: { name: 'A' },
    attributes: { name: 'A', type: 'text' },
    prices: { product_id: product['id'], amount: 5 },
    accounts: { name: 'A' }
  })
) {
  t.test(`${table}: the new fields are created, changed, listed, told, undone and measured`, async (t) => {
    const path = (id: string) => `/${table}/${id}`
    const { id } = await done('POST', `/${table}`, { ...input, ...first })
    t.match(await done('GET', path(id)), first)
    t.match(await done('PATCH', path(id), second), second)
    t.match(
      await as('PATCH', path(id), { pieces: 3_000_000_000 }),
      { status: 422, body: { field: 'pieces' } },
      'and no more than the column holds'
    )
    t.match(await as('GET', `/${table}?filter={"pieces":3000000000}`), {
      status: 422,
      body: { field: /^filter\/pieces/ }
    })
    t.match((await changesOf(id))[0], {
      changes: {
        barcode: { before: first['barcode'], after: second['barcode'] },
        size: { before: first['size'], after: second['size'] },
        tested_at: { before: first['tested_at'] }
      }
    })
    t.match(
      await done(
        'GET',
        `/${table}?sort=-barcode&filter=${
          encodeURIComponent(
            JSON.stringify({
              barcode: second['barcode'],
              fragile: false,
              size: { h: 3 },
              tested_at: second['tested_at']
            })
          )
        }`
      ),
      [{ id }]
    )
    await undo(id)
    t.match(await done('GET', path(id)), first, 'a change is taken back')
    await done('DELETE', path(id))
    await undo(id)
    t.match(await done('GET', path(id)), first, 'and so is a deletion')
    t.match(await done('PATCH', path(id), none), none)

    const [{ bytes: before }, usedBefore] = [await knex(table).where({ id }).first('bytes'), await used()]
    const long = { barcode: 'é"'.repeat(20), size: { text: 'x'.repeat(500) } }
    await done('PATCH', path(id), long)
    const { bytes } = await knex(table).where({ id }).first('bytes')
    const grown = Buffer.byteLength(JSON.stringify(long)) - Buffer.byteLength('{"barcode":null,"size":null}')
    t.ok(bytes - before >= grown, `its size grows by ${bytes - before}, at least ${grown}`)
    t.equal(await used() - usedBefore, bytes - before, 'and what the shop uses with it')
  })
}

t.test('the deletion of a product keeps the new fields of its prices', async (t) => {
  const { id } = await done('POST', '/prices', { product_id: product['id'], amount: 7, min_quantity: 2, ...first })
  await done('DELETE', `/products/${product['id']}`)
  await undo(product['id'])
  t.match(await done('GET', `/prices/${id}`), first)
})

t.test('tools and batches have the new fields of a product', async (t) => {
  const call = async (name: string, args: object): Promise<Body> => {
    const { result } = (await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { accept: 'application/json, text/event-stream', ...machine },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { shop_id: shop, ...args } } }
    })).json()
    t.notOk(result.isError, result.isError ? JSON.stringify(result) : name)
    return JSON.parse(result.content[0].text)
  }
  const { id } = await call('create_product', { name: 'By an agent', ...first })
  t.match(await call('get_product', { product_id: id }), first)
  await call('update_product', { product_id: id, ...second })
  t.match(await call('get_product', { product_id: id }), second)

  const batch = async (items: readonly object[]): Promise<Body> => await done('POST', '/products/batch', { items })
  const { items: [made, bare] } = await batch([{ name: 'In a batch', ...first }, { name: 'Bare' }])
  t.match(await done('GET', `/products/${made.id}`), first)
  t.match(await done('GET', `/products/${bare.id}`), { ...none, status: 'draft', currency: 'EUR', metadata: {} })
  t.match(await batch([{ id: made.id, ...second }]), { updated: 1 })
  t.match(await done('GET', `/products/${made.id}`), second)
  t.match(await batch([{ id: made.id, ...second }]), { unchanged: 1 })
})

t.test('what is exported has the new fields, and an import brings them', async (t) => {
  const imported = async (type: string, payload: string): Promise<Body> => {
    const { headers, body } = await app.inject({
      method: 'POST',
      url: `/shops/${shop}/imports`,
      headers: { ...machine, 'content-type': type },
      payload
    })
    if (headers.location === undefined) throw new Error(body)
    for (;;) {
      const found = (await app.inject({ url: headers.location as string, headers: machine })).json()
      if (!['pending', 'running'].includes(found.status)) return found
      await sleep(20)
    }
  }
  const { id } = await done('POST', '/products', { name: 'In a file', sku: 'F-1', ...second })
  const other = await done('POST', '/products', { name: 'Another', sku: 'F-2', ...first })
  for (const [format, type] of [['csv', 'text/csv'], ['jsonl', 'application/x-ndjson']] as const) {
    const file = async (): Promise<string> =>
      (await app.inject({
        url: `/shops/${shop}/products/export?format=${format}&filter=${encodeURIComponent('{"sku":["F-1","F-2"]}')}`,
        headers: machine
      })).body
    const before = await file()
    for (const name of Object.keys(FIELDS)) t.ok(before.includes(name), `${format} has ${name}`)
    t.match(await imported(type, before), { status: 'done', total: 2, unchanged: 2 })
    if (format === 'csv') {
      const retyped = before.replace(`"${first['barcode']}"`, '4.00638E+12')
      const { json } = await app.inject({
        method: 'POST',
        url: `/shops/${shop}/imports`,
        headers: { ...machine, 'content-type': type },
        payload: retyped
      })
      t.match(
        await imported('text/csv', 'name,pieces\nTwo,2\nMany,3000000000').catch((error: Error) =>
          JSON.parse(error.message)
        ),
        { errors: [{ line: 3, field: 'pieces' }] }
      )
      t.match(json(), {
        errors: [{ field: 'barcode', message: /a spreadsheet has taken "4006381333931" for a number/ }]
      })
    }
    await done('PATCH', `/products/${id}`, none)
    await done('DELETE', `/products/${other['id']}`)
    t.match(
      await imported(
        type,
        format === 'csv' ? before.replaceAll(other['id'], '') : before.replace(`"id":"${other['id']}",`, '')
      ),
      { status: 'done', updated: 1, created: 1 }
    )
    t.match(await done('GET', `/products/${id}`), second)
    t.match(await done('GET', `/products?filter=${encodeURIComponent('{"sku":"F-2"}')}`), [first])
    other['id'] = ((await done('GET', `/products?filter=${encodeURIComponent('{"sku":"F-2"}')}`)) as Body[])[0]!['id']
  }
})

/** It takes as long as ten other files. */
const skip = process.env['CONSOLE_BUILDS'] === undefined &&
  'NOT RUN: set CONSOLE_BUILDS=yes to check and build the console with the new fields, as .ci/run does'

t.test('the console does not compile until its form says where the new fields are', { skip }, async (t) => {
  const tsc = [
    join(repository, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(folder, 'examples/console'),
    '--noEmit',
    '--pretty',
    'false'
  ]
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, tsc, { env: { ...process.env, NODE_OPTIONS: '' } }, (_error, stdout) => resolve(stdout))
  })
  t.match(output, /product-form\.tsx.*(?:barcode.*fragile|is missing the following properties)/, output)
  t.equal(output.split('\n').filter((line) => /error TS/.test(line)).length, 1)
})

t.test(
  'the console shows a new field in its form and in the activity, and saves it',
  { skip: skip || withoutChromium },
  async (t) => {
    editFile(
      join(folder, 'examples/console/src/catalog/product-form.tsx'),
      "  name: ['basics'",
      "  barcode: ['selling', () => <TextInput source='barcode' />],\n  fragile: null,\n  pieces: null,\n  " +
        "tested_at: null,\n  size: null,\n  name: ['basics'"
    )
    await promisify(execFile)(process.execPath, [join(folder, 'examples/console/build.js')], {
      env: { ...process.env, NODE_OPTIONS: '' }
    })

    const { provisionUser } = await from('src/users/repository.ts') as typeof import('../src/users/repository.ts')
    const port = await freePort()
    const baseUrl = `http://localhost:${port}`
    const kim = { username: 'kim', password: 'password of kim' }
    const consoleClientId = 'test-console'
    const { issuer, close } = await startIdentityProvider({
      port: 0,
      users: [kim],
      resource: baseUrl,
      clientId: 'test-mcp',
      consoleClientId,
      m2m: { clientId: 'test-machine', clientSecret: 'of the machine' }
    })
    t.teardown(close)
    const settings = {
      PUBLIC_BASE_URL: baseUrl,
      IDP_ISSUER: issuer,
      CONSOLE_ENABLED: true,
      IDP_CONSOLE_CLIENT_ID: consoleClientId,
      RATE_LIMIT_MAX: 100_000
    }
    await (await build(t, database, idp, { settings })).listen({ port, host: 'localhost' })
    const { id: user } = await provisionUser(knex, subjectOf(kim), kim.username)
    await knex('shop_members').insert({ shop_id: shop, user_id: user, role: 'owner' })
    const { id } = await done('POST', '/products', { name: 'Seen by a person', ...first })

    const page = await signIn(await openBrowser(t), baseUrl, kim, `/console/shops/here/products/${id}`)
    const input = page.getByLabel('Barcode')
    await input.waitFor()
    t.equal(await input.inputValue(), first['barcode'])
    await input.fill(second['barcode'])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Product saved').waitFor()
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('button', { name: /^Details/ }).first().click()
    const row = page.getByRole('row').filter({ hasText: 'Barcode' })
    await row.waitFor()
    t.match(await row.textContent(), new RegExp(`${first['barcode']}.*${second['barcode'].replace(/[()]/g, '\\$&')}`))
    t.match(
      await done('GET', `/products/${id}`),
      { ...first, barcode: second['barcode'] },
      'and the others stay as they are'
    )
    t.strictSame(faultsOf.get(page), [])
  }
)
