import { PassThrough, type Readable } from 'node:stream'
import t from 'tap'
import { productExport } from '../src/catalog/product-export.ts'
import { ShopScope } from '../src/access/scope.ts'
import { createShop, openTestDatabase } from './build.ts'

// Two shops whose files are read slowly, while others write.
const database = await openTestDatabase(t)
const { knex } = database
const files = productExport(knex)

async function shopOf (slug: string, size: number): Promise<ShopScope> {
  const id = await createShop(database, slug)
  await knex('products').insert(
    Array.from({ length: size }, (_, n) => ({ shop_id: id, name: `${slug} ${n}`, slug: `p-${n}`, currency: 'EUR' }))
  )
  return await ShopScope.resume(knex, id, { kind: 'machine', id: 'x', name: null } as never)
}

/** @returns the file, and the statuses of those that were refused */
function open (shop: ShopScope): Readable | number {
  try {
    return files.open(shop, undefined, 'jsonl', new PassThrough())
  } catch (error) {
    return (error as { statusCode: number }).statusCode
  }
}

const namesIn = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line).name)

async function rest (file: Readable, text = ''): Promise<string[]> {
  for await (const chunk of file) text += String(chunk)
  return namesIn(text)
}

t.test('files in parts have each product of their shop once, whoever writes meanwhile', async (t) => {
  const [large, small] = [await shopOf('large', 1000), await shopOf('small', 3)]
  const [one, two] = [open(large) as Readable, open(large) as Readable]
  t.equal(open(large), 429, 'one more than there are places')
  const other = open(small) as Readable
  t.strictSame((await rest(other)).toSorted(), ['small 0', 'small 1', 'small 2'], 'those of another shop are free')

  const reading = one[Symbol.asyncIterator]()
  const first = String((await reading.next()).value)
  const begun = namesIn(first).length
  t.ok(begun >= 200 && begun < 1000, `${begun} were read for the first part`)
  const gone = (await knex('products').where({ shop_id: large.id }).orderBy('id').offset(100).limit(2).select('name'))
    .map(({ name }) => name)
  await knex('products').where({ shop_id: large.id }).whereIn('name', gone).delete()
  await knex('products').insert({
    shop_id: large.id,
    name: 'new',
    slug: 'new',
    currency: 'EUR',
    id: '00000000-0000-4000-8000-000000000001'
  })
  let text = first
  for (let next = await reading.next(); next.done !== true; next = await reading.next()) text += String(next.value)
  const names = namesIn(text)
  t.equal(names.length, 1000, 'what was read before it was deleted stays, and what came behind the place is not read')
  t.equal(new Set(names).size, 1000)
  t.ok(names.every((name) => name.startsWith('large ')))

  const three = open(large) as Readable
  t.equal(open(large), 429, 'its place is free again, and no other one')
  two.destroy()
  await new Promise((resolve) => two.once('close', resolve))
  const four = open(large) as Readable
  const again = await rest(three)
  t.strictSame(again.length, 999)
  t.strictSame((await rest(four)).toSorted(), again.toSorted())
  for (const file of [open(large), open(large)]) t.not(file, 429)
})
