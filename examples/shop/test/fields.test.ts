import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { bodySchemaOf, callOf, openFurnished, type Headers } from './furnished.ts'

/*
 * What null, an empty string, no value, and the longest strings do to a field of a record that exists: on every route
 * that changes one, and in the other ways to change a product, which must agree.
 */

const { people: [boss], requests, furnish, prepare, send, tool } = await openFurnished(t, ['boss'])
const by: Headers = boss!.headers

type Body = Record<string, any>
type Way = (changes: Body) => Promise<{ readonly status: number, readonly field?: string }>

const changing = requests.filter(({ route, method }) => method === 'PATCH' && route.url.startsWith('/shops/:shop_id'))

/** The ways to change a record: its route, and its tool if it has one. */
async function open ({ route, name }: typeof changing[number]) {
  const shop = await furnish()
  await prepare(name, shop)
  const { url, body } = callOf(route, shop)
  const { operationId, tags = [] } = route.schema as { operationId: string, tags?: readonly string[] }
  const ids = Object.fromEntries([...route.url.matchAll(/:(\w+)/g)].map(([, param]) => [param, shop.params[param!]]))
  const read = async (): Promise<Body> => JSON.parse((await send('GET', url, by)).body)
  const rest: Way = async (changes) => {
    const { statusCode: status, body } = await send('PATCH', url, by, changes)
    return { status, field: JSON.parse(body).field }
  }
  const asTool: Way = async (changes) => {
    const { result } = JSON.parse((await tool(by, operationId, { ...ids, ...changes })).body)
    const { field } = /"field":\s*"(?<field>[^"]*)"/.exec(result.content[0].text)?.groups ?? {}
    return { status: result.isError === true ? 422 : 200, ...field !== undefined && { field } }
  }
  const ways: Array<readonly [string, Way]> = [
    ['route', rest],
    ...tags.includes('mcp') ? [['tool', asTool] as const] : []
  ]
  if (operationId === 'update_product') {
    ways.push(['batch', batch], [
      'JSON line',
      async (changes) => await file('jsonl', JSON.stringify({ id: ids['product_id'], ...changes }))
    ])
  }
  async function batch (changes: Body): ReturnType<Way> {
    const { statusCode: status, body } = await send('POST', `/shops/${shop.id}/products/batch`, by, {
      items: [{ id: ids['product_id'], ...changes }]
    })
    return { status, field: JSON.parse(body).field?.replace('items/0/', '') }
  }
  async function file (format: string, content: string): ReturnType<Way> {
    const { statusCode: status, body } = await send('POST', `/shops/${shop.id}/imports`, by, { format, content })
    const { id, errors } = JSON.parse(body)
    if (status !== 202) return { status, field: errors?.[0].field }
    for (;;) {
      const { status, errors } = JSON.parse((await send('GET', `/shops/${shop.id}/imports/${id as string}`, by)).body)
      if (status === 'done') return { status: errors.length === 0 ? 200 : 422, field: errors[0]?.field }
      await sleep(20)
    }
  }
  const cell = (text: string) => async (changes: Body) =>
    await file('csv', `id,${Object.keys(changes)[0]!}\n${String(ids['product_id'])},${text}`)

  /** Sets a field to something, and then to a value. @returns what became of it */
  async function outcome (field: string, value: unknown, way: Way): Promise<string> {
    await rest({ [field]: body![field as keyof typeof body] })
    const before = await read()
    const { status, field: named } = await way({ [field]: value })
    const after = await read()
    if (status !== 200) {
      return isDeepStrictEqual(before, after)
        ? `refused ${named?.split('/')[0] === field ? '' : `about ${named}`}`.trim()
        : 'refused and changed'
    }
    const { [field]: was, updated_at: _, ...rest1 } = before
    const { [field]: is, updated_at: __, ...rest2 } = after
    if (!isDeepStrictEqual(rest1, rest2)) return 'changed something else'
    if (isDeepStrictEqual(is, was)) return 'kept'
    if (is === null) return 'cleared'
    const isEmpty = ['', '[]', '{}'].includes(typeof is === 'string' ? is : JSON.stringify(is))
    return isEmpty || isDeepStrictEqual(is, value) ? 'empty' : JSON.stringify(is)
  }
  return {
    shop,
    body: body as Body,
    read,
    rest,
    ways,
    cell,
    outcome,
    schema: bodySchemaOf(route) as { properties: Record<string, Body> }
  }
}

/** What null clears, and where an empty string is one. All other fields refuse both. */
const CLEARED = [
  'description',
  'sku',
  'price_amount',
  'parent_id',
  'unit',
  'valid_from',
  'valid_to',
  'hash_name',
  'contact_email',
  'calls_per_day',
  'writes_per_day',
  'imports_per_day'
]
const EMPTY = ['description']

for (const request of changing) {
  t.test(`${request.name}: null, empty, missing, and the longest strings in any letters`, async (t) => {
    const { body, read, ways, outcome, schema: { properties } } = await open(request)
    for (const [name, way] of ways) {
      for (const field of Object.keys(body)) {
        t.equal(
          await outcome(field, null, way),
          CLEARED.includes(field) ? 'cleared' : 'refused',
          `${name}: ${field}: null`
        )
        t.equal(await outcome(field, '', way), EMPTY.includes(field) ? 'empty' : 'refused', `${name}: ${field}: ''`)
      }
      const before = await read()
      t.equal((await way({})).status, 200)
      t.strictSame(await read(), before, `${name}: nothing`)
    }
    for (const [field, { maxLength, pattern, format }] of Object.entries(properties)) {
      if (maxLength === undefined || format !== undefined || field === 'locale' || field === 'time_zone') continue
      for (const letter of pattern?.startsWith('^') === true ? ['x'] : ['x', 'e\u0301', '🫖']) {
        for (const [name, way] of ways) {
          const longest = letter.repeat(maxLength)
          const fits = Buffer.byteLength(longest) < 65_000
          t.equal(
            (await way({ [field]: longest })).status,
            fits ? 200 : 422,
            `${name}: ${field}: ${maxLength} of ${letter}`
          )
          if (fits) t.equal((await read())[field], longest.normalize(), `${name}: ${field} of ${letter}`)
          t.match(
            await way({ [field]: `${longest}${letter}` }),
            { status: 422, field },
            `${name}: ${field}: one more of ${letter}`
          )
        }
      }
    }
  })
}

/** What an empty cell does, and one with nothing in quotes, if not the same. */
const CELLS: Readonly<Record<string, readonly [string, string?]>> = {
  name: ['kept', 'refused'],
  slug: ['kept'],
  description: ['cleared', 'empty'],
  sku: ['cleared', 'refused'],
  status: ['kept'],
  price_amount: ['cleared'],
  currency: ['kept'],
  category_ids: ['empty'],
  tag_ids: ['empty'],
  attributes: ['empty'],
  image_urls: ['empty'],
  metadata: ['empty']
}

t.test('empty cells of a file', async (t) => {
  const { body, outcome, cell } = await open(
    changing.find(({ name }) => name === 'PATCH /shops/:shop_id/products/:product_id')!
  )
  for (const field of Object.keys(body)) {
    const [empty, quoted = empty] = CELLS[field] ?? []
    t.strictSame([await outcome(field, null, cell('')), await outcome(field, '', cell('""'))], [empty, quoted], field)
  }
})
