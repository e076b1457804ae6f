// What the callers of a day do, at random times: reads, searches and writes of 200 shops over REST and /mcp, by keys,
// people and a machine.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from './client.ts'
import { WORDS } from '../fill.ts'
import { MACHINE, oneOf, type Place, type World } from './world.ts'
import { arrivals, type Load } from '../steady.ts'

/** Of all calls; the others go to small shops. */
const TO_LARGE_SHOPS = 0.3
/** Who calls: a key, else one of the shop's people, else the machine. */
const [BY_KEY, BY_PERSON] = [0.6, 0.3]
const OVER_MCP = 0.5

/** Makes the names of products differ. */
let number = 0

/** What a call does, as the tool and as the route. */
interface Kind {
  /** Of a hundred calls. */
  readonly share: number
  readonly tool: string
  /** Default: that of the tool. */
  readonly name?: string
  readonly method?: Call['method']
  /** Of the route, below the shop. Its arguments, but for `product_id`, are the query or the body. */
  readonly path: string
  readonly args: (place: Place) => Record<string, unknown>
  readonly expect?: number
  readonly then?: (place: Place, answer: any) => void
}

const list = (share: number, name: string, args: (place: Place) => object): Kind => ({
  share,
  name,
  tool: 'list_products',
  path: '/products',
  args: (place) => ({ limit: 25, ...args(place) })
})
const product = ({ products }: Place): { product_id: string } => ({ product_id: oneOf(products) })

const GET = { tool: 'get_product', path: '/products/' } as const
const UPDATE = { tool: 'update_product', method: 'PATCH', path: '/products/' } as const
const CREATE: Kind = {
  share: 6,
  tool: 'create_product',
  method: 'POST',
  path: '/products',
  args: () => ({ name: `Made in this month ${number++}`, price_amount: 100 }),
  then: ({ made }, { id }) => {
    made.push(id)
  }
}

const KINDS: readonly Kind[] = [
  { ...GET, share: 26, args: product },
  list(12, 'list', () => ({})),
  list(8, 'list, sorted', () => ({ sort: oneOf(['name', '-price_amount', '-updated_at']) })),
  list(7, 'list, filtered and sorted', () => ({ sort: 'name', filter: { status: ['draft'], price_amount_gte: 5000 } })),
  list(5, 'list by tag', ({ tags }) => ({ filter: { tag_ids: [oneOf(tags)] } })),
  list(5, 'list by category', ({ categories }) => ({ filter: { category_ids: [oneOf(categories)] } })),
  list(8, 'list by q', () => ({ filter: { q: oneOf([...Object.values(WORDS), 'kettle red', `lamp ${number}`]) } })),
  { share: 3, tool: 'list_tags', path: '/tags', args: () => ({}) },
  { ...UPDATE, share: 11, args: (place) => ({ ...product(place), price_amount: number++ }) },
  CREATE,
  // As many as are created.
  {
    share: CREATE.share,
    tool: 'delete_product',
    method: 'DELETE',
    path: '/products/',
    args: ({ made }) => ({ product_id: made.shift() })
  },
  // What callers get wrong.
  { ...GET, share: 2, args: () => ({ product_id: randomUUID() }), expect: 404 },
  { ...UPDATE, share: 1, args: (place) => ({ ...product(place), currency: 'nonsense' }), expect: 422 }
]

/** @returns when all calls have been answered */
export async function callRandomly (world: World, load: Load): Promise<void> {
  const start = performance.now()
  const answers: Array<Promise<void>> = []
  for (const after of arrivals(load)) {
    const due = start + after
    if (due > performance.now()) await sleep(due - performance.now())
    const place = oneOf(Math.random() < TO_LARGE_SHOPS ? world.large : world.small)
    const kind = kindFor(place)
    answers.push(
      world.client.send(callOf(world, place, kind), due).then((answer) => {
        if (answer !== undefined) kind.then?.(place, answer)
      })
    )
  }
  await Promise.all(answers)
}

/** There is something to delete only in a shop in which something was created. */
function kindFor (place: Place): Kind {
  let left = Math.random() * 100
  const kind = KINDS.find(({ share }) => (left -= share) < 0) ?? KINDS[0]!
  return kind.method === 'DELETE' && place.made.length === 0 ? CREATE : kind
}

function callOf (world: World, place: Place, { tool, name = tool, method = 'GET', path, args, expect }: Kind): Call {
  const headers = callerOf(world, place)
  const given = args(place)
  const common = { name, headers, ...expect !== undefined && { expect } }
  const repeatable = method === 'POST' ? randomUUID() : undefined
  if (Math.random() < OVER_MCP) {
    return {
      ...common,
      tool,
      args: { shop_id: place.id, ...given, ...repeatable !== undefined && { idempotency_key: repeatable } }
    }
  }
  const { product_id: id = '', ...rest } = given as { product_id?: string }
  const to = `/shops/${place.id}${path}${id}`
  if (method === 'GET') return { ...common, path: `${to}?${queryOf(rest)}` }
  return {
    ...common,
    method,
    path: to,
    ...method !== 'DELETE' && { body: rest },
    ...repeatable !== undefined && { headers: { ...headers, 'idempotency-key': repeatable } }
  }
}

export function queryOf (args: object): string {
  return new URLSearchParams(
    Object.entries(args).map((
      [name, value]
    ) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)])
  ).toString()
}

function callerOf ({ headers }: World, { key, owner, staff }: Place): Readonly<Record<string, string>> {
  const chosen = Math.random()
  if (chosen < BY_KEY) return { 'x-api-key': key }
  // The first of the staff may be away today.
  return headers.get(chosen < BY_KEY + BY_PERSON ? oneOf([owner, staff[1]!]) : MACHINE)!
}
