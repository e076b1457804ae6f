import { WORDS } from './fill.ts'

/** A shop of a size, and what calls need to know of it. */
export interface Sized {
  readonly size: number
  readonly id: string
  readonly key: string
  readonly tag: string
  readonly category: string
  readonly product: string
}

/** A tool, and its route. */
export interface Call {
  readonly name: string
  /** How many times as long it may take in the large shop. Default: it is only shown. */
  readonly growth?: number
  readonly tool: 'list_products' | 'get_product' | 'create_product'
  readonly args: (shop: Sized) => Readonly<Record<string, unknown>>
  /** Whether a product is created in the shop each time before it, which is not measured. */
  readonly afterWrite?: boolean
}

/** Makes the names of products differ. */
let number = 0

const list = (name: string, growth: number | undefined, args: Call['args'] | object = {}): Call => ({
  name,
  ...growth !== undefined && { growth },
  tool: 'list_products',
  args: typeof args === 'function' ? args as Call['args'] : () => args as Record<string, unknown>
})

const filtered = (name: string, growth: number | undefined, filter: (shop: Sized) => object): Call =>
  list(name, growth, (shop: Sized) => ({ filter: filter(shop) }))

/** What is measured. A shop's size tells how much of it a filter matches: a tag 5 %, a range of prices 10 %. */
export const READS: readonly Call[] = [
  { name: 'get', growth: 2, tool: 'get_product', args: ({ product }) => ({ product_id: product }) },
  list('list, default', 2),
  filtered('list by tag', 2, ({ tag }) => ({ tag_ids: [tag] })),
  filtered('list by category', 2, ({ category }) => ({ category_ids: [category] })),
  filtered('list by status', 2, () => ({ status: ['active'] })),
  filtered('list by metadata', 2, () => ({ metadata: { erp: 7 } })),
  ...[
    'price_amount',
    '-price_amount',
    'updated_at',
    '-updated_at',
    '-created_at',
    'status',
    '-status',
    'currency',
    'slug',
    '-slug',
    'sku',
    '-sku',
    'id'
  ].map((sort) => list(`sort ${sort}`, 2, { sort })),
  filtered('price range', 2, () => ({ price_amount_gte: 100_000, price_amount_lte: 200_000 })),
  list('price range, by price', 2, {
    sort: 'price_amount',
    filter: { price_amount_gte: 100_000, price_amount_lte: 200_000 }
  }),
  filtered('q: all', 3, () => ({ q: WORDS.common })),
  filtered('q: 1 %', 3, () => ({ q: WORDS.rare })),
  filtered('q: no match', 3, () => ({ q: WORDS.absent })),
  list('skip 90 %', 3, ({ size }: Sized) => ({ skip: size * 0.9 })),
  list('skip 90 %, by price', 3, ({ size }: Sized) => ({ skip: size * 0.9, sort: 'price_amount' }))
]

/** Writes make the counts of filters that are remembered untrue. */
export const WRITES: readonly Call[] = [
  {
    name: 'create',
    growth: 2,
    tool: 'create_product',
    args: () => ({ name: `New product number ${number++}`, price_amount: 100 })
  },
  { ...list('list, default, after a write', 2), afterWrite: true },
  // What matches is counted again. All of a shop takes as long as the shop is large, so that is only shown.
  ...([
    ['list by tag', 3, ({ tag }) => ({ tag_ids: [tag] })],
    ['list by status', 3, () => ({ status: ['active'] })],
    ['q: all', undefined, () => ({ q: WORDS.common })],
    ['q: 1 %', 3, () => ({ q: WORDS.rare })],
    ['q: no match', 3, () => ({ q: WORDS.absent })]
  ] satisfies Array<[string, number | undefined, (shop: Sized) => object]>)
    .map(([name, growth, filter]) => ({ ...filtered(`${name}, after a write`, growth, filter), afterWrite: true }))
]
