import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { reverter } from '../src/history/revert.ts'
import { turns } from '../src/turns.ts'
import { importReceiver } from '../src/imports/receive.ts'
import type { Line } from '../src/imports/line.ts'
import { importRepository } from '../src/imports/repository.ts'
import { CHUNK } from '../src/imports/schemas.ts'
import { importSteps } from '../src/imports/step.ts'
import { ShopScope } from '../src/access/scope.ts'
import { createShop, openTestDatabase, TEST_DATABASE_URL } from './build.ts'

// Several files of two shops, each of which comes in two parts; others do something in between.
const database = await openTestDatabase(t)
const { knex } = database
const receiver = importReceiver(knex, async () => {})
const imports = importRepository(knex)
const { step } = importSteps(knex, () => {})

const enter = async (id: string, operation: string): Promise<ShopScope> =>
  await ShopScope.resume(knex, id, {
    kind: 'machine',
    id: 'm',
    name: null,
    operation,
    tool: null,
    confirmed: null,
    requestId: null
  })
const openShop = async (slug: string): Promise<ShopScope> =>
  await enter(await createShop(database, slug), 'import_products')

/** The statuses of the lines of an import, and how many have each. */
const linesOf = async (id: string): Promise<object> =>
  Object.fromEntries(
    (await knex('import_lines').where({ import_id: id }).groupBy('status').select('status').count('* as count')).map((
      { status, count }
    ) => [status, Number(count)])
  )

const receive = async (shop: ShopScope, lines: AsyncIterable<Line>) =>
  await receiver.receive(shop, lines, {
    skipInvalid: false,
    hold: undefined,
    finish: async (enqueue) => await enqueue(knex)
  })

async function applyAll (): Promise<void> {
  while (await step());
}

/** A file whose first part has been stored, and that then waits. */
async function begin (shop: ShopScope, name: string, more: readonly object[] = [{ sku: 'LAST', name }]) {
  let go = (_error?: Error): void => {}
  let reached = (): void => {}
  const isStored = new Promise<void>((resolve) => {
    reached = resolve
  })
  const waits = new Promise<void>((resolve, reject) => {
    go = (error) => {
      if (error === undefined) resolve()
      else reject(error)
    }
  })
  async function* lines (): AsyncGenerator<Line> {
    const first = Array.from({ length: CHUNK }, (_, n) => ({ sku: `S-${n}`, name: `${name} ${n}` }))
    let line = 0
    for (const product of first) yield { line: ++line, size: 1, product }
    reached()
    await waits
    for (const product of more) yield { line: ++line, size: 1, product }
  }
  const made = receive(shop, lines())
  made.catch(() => {})
  await isStored
  return {
    end: async () => {
      go()
      return await made
    },
    fail: async (): Promise<string> => {
      go(new Error('The client has gone'))
      return await made.then(() => 'stored', ({ message }) => message)
    }
  }
}

t.test('files of a shop that come at once keep their own lines, and are applied one after another', async (t) => {
  const [shop, other] = [await openShop('busy'), await openShop('other')]
  // All have the same products.
  const [one, two, gone] = [await begin(shop, 'one'), await begin(shop, 'two'), await begin(shop, 'off')]
  t.equal(await gone.fail(), 'The client has gone')
  const second = await two.end()
  t.match(
    await imports.list(shop, { sort: 'id', skip: 0, limit: 25 }),
    { rows: [{ id: second.id }], count: 1 },
    'nobody sees what still comes'
  )
  const first = await one.end()
  const third = await (await begin(other, 'new')).end()
  const stored = await knex('imports').whereIn('id', [first.id, second.id, third.id]).select('id', 'bytes', 'follows')
  const of = ({ id }: { readonly id: string }) => stored.find((row) => row.id === id)
  t.strictSame([of(first).follows, of(second).follows, of(third).follows], [true, true, false])
  t.equal(new Set(stored.map(({ bytes }) => bytes)).size, 1, 'the size of each is that of its own lines')

  const statuses = async (): Promise<unknown[]> => {
    const all = [
      await imports.get(shop, first.id),
      await imports.get(shop, second.id),
      await imports.get(other, third.id)
    ]
    return all.map(({ status, processed }) => [status, processed])
  }
  await step()
  t.strictSame(await statuses(), [['pending', 0], ['running', CHUNK], ['pending', 0]], 'the one that was whole first')
  t.strictSame(await linesOf(first.id), { pending: CHUNK + 1 })
  await step()
  t.strictSame(await statuses(), [['pending', 0], ['running', CHUNK], ['running', CHUNK]], 'shops take turns')
  t.ok(await imports.cancel(shop, second.id))
  t.strictSame([await linesOf(second.id), await linesOf(first.id), await linesOf(third.id)], [
    { created: CHUNK, skipped: 1 },
    { pending: CHUNK + 1 },
    { created: CHUNK, pending: 1 }
  ])
  await applyAll()
  t.strictSame(await statuses(), [['done', CHUNK + 1], ['cancelled', CHUNK], ['done', CHUNK + 1]])
  t.strictSame([await linesOf(first.id), await linesOf(third.id)], [
    { created: 1, updated: CHUNK },
    { created: CHUNK + 1 }
  ])
})

const SKIP = {
  skip: TEST_DATABASE_URL === undefined && 'the embedded engine has one connection: set TEST_DATABASE_URL'
}

/** Somebody creates a product with the SKU `S-1` between two statements of some work: those before its categories. */
async function meanwhile (shop: ShopScope, work: () => Promise<unknown>): Promise<void> {
  let working: Promise<unknown> | undefined
  await knex.transaction(async (trx) => {
    await trx.raw('lock table categories in access exclusive mode')
    working = work()
    working.catch(() => {})
    const waiting = knex('pg_stat_activity').where({ wait_event_type: 'Lock' }).whereRaw('datname = current_database()')
    while (await waiting.clone().first('pid') === undefined) await sleep(5)
    await trx('products').insert({
      shop_id: shop.id,
      name: 'Of somebody',
      slug: 'somebody',
      sku: 'S-1',
      currency: 'EUR'
    })
  })
  await working
}

async function openWithCategory (slug: string) {
  const shop = await openShop(slug)
  const [category] = await knex('categories').insert({ shop_id: shop.id, name: 'Cups', slug: 'cups' }).returning('id')
  async function* lines (): AsyncGenerator<Line> {
    yield { line: 1, size: 1, product: { sku: 'S-1', name: 'Of the file', category_ids: [category.id] } }
  }
  return { shop, lines }
}

t.test('a product that appears while a file is checked is no reason to refuse it', SKIP, async (t) => {
  const { shop, lines } = await openWithCategory('met-by-check')
  await meanwhile(shop, async () => {
    t.match(await receiver.preview(shop, lines()), { created: 1, failed: 0, errors: [] })
  })
  t.match(await receiver.preview(shop, lines()), { updated: 1, failed: 0 })
})

t.test('a line whose product appears while it is applied says so', SKIP, async (t) => {
  const { shop, lines } = await openWithCategory('met-by-step')
  const { id } = await receive(shop, lines())
  await meanwhile(shop, step)
  await applyAll()
  const errors = [{ line: 1, message: 'The product was created after the file was checked' }]
  t.match(await imports.get(shop, id), { status: 'done', failed: 1, errors })
})

t.test('an import is undone while another one goes on: each keeps what the other one wrote', async (t) => {
  const shop = await openShop('undone')
  const { revertChanges } = reverter(knex, turns({ atOnce: 1 }))
  const undoing = await enter(shop.id, 'revert_changes')
  const undo = async (id: string, skipsConflicts = false) =>
    await revertChanges(undoing, true, { import_id: id }, { skipsConflicts }).then(
      ({ reverted, conflict_count: conflicts, left_out_count: leftOut }) => ({ reverted, conflicts, leftOut }),
      ({ code, message }) => code ?? message
    )
  const names = async (): Promise<object> => {
    const rows = await knex('products').where({ shop_id: shop.id }).select(knex.raw('left(name, 3) as by'))
    return Object.fromEntries(['one', 'two'].map((name) => [name, rows.filter(({ by }) => by === name).length]))
  }

  const first = await (await begin(shop, 'one')).end()
  // Its first part is checked before the products are made, and the last line behind that.
  const two = await begin(shop, 'two')
  await applyAll()
  t.strictSame(await names(), { one: CHUNK + 1, two: 0 })
  const second = await two.end()
  await step()
  t.strictSame(await names(), { one: 1, two: CHUNK }, 'it was told that it comes behind another one')

  t.equal(await undo(second.id), 'SHOP_INVALID', 'not while it goes on')
  t.equal(await undo(first.id), 'SHOP_REVERT_CONFLICT')
  t.strictSame(await undo(first.id, true), { reverted: 1, conflicts: CHUNK, leftOut: 0 })
  t.strictSame(await names(), { one: 0, two: CHUNK })
  await applyAll()
  t.match(await imports.get(shop, second.id), {
    status: 'done',
    updated: CHUNK,
    failed: 1,
    errors: [{ line: CHUNK + 1, message: 'The product was deleted after the file was checked' }]
  })
  t.strictSame(await undo(second.id), { reverted: CHUNK, conflicts: 0, leftOut: 0 })
  t.strictSame(await names(), { one: CHUNK, two: 0 })
  t.strictSame(await undo(first.id), { reverted: CHUNK, conflicts: 0, leftOut: 1 })
  t.strictSame(await names(), { one: 0, two: 0 })
})

t.test('the currency of the shop changes after a file was checked: no price becomes one in the other', async (t) => {
  const shop = await openShop('currency')
  async function* lines (): AsyncGenerator<Line> {
    const products = [
      { name: 'Of the shop', price: '20.00' },
      { name: 'In minor units', price_amount: 2000 },
      { name: 'Named', price: '20.00', currency: 'EUR' },
      { name: 'Free' }
    ]
    for (const [n, product] of products.entries()) yield { line: n + 1, size: 1, product }
  }
  const { id } = await receive(shop, lines())
  await knex('shops').where({ id: shop.id }).update({ currency: 'USD' })
  await applyAll()
  const message = 'currency was changed after the file was checked'
  t.match(await imports.get(shop, id), {
    status: 'done',
    created: 2,
    failed: 2,
    errors: [{ line: 1, field: 'currency', message }, { line: 2, field: 'currency', message }]
  })
  t.strictSame(
    await knex('products').where({ shop_id: shop.id }).orderBy('name').select('name', 'currency', 'price_amount'),
    [{ name: 'Free', currency: 'USD', price_amount: null }, { name: 'Named', currency: 'EUR', price_amount: 2000 }]
  )
})
