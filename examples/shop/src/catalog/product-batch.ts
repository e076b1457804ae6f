import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { tried } from '../database/tried.ts'
import { newer } from '../database/updated-at.ts'
import { conflict, type FieldError, invalid, SHOP_RECORD_TOO_LARGE, taken } from '../errors.ts'
import { refuseUnsafeImages } from '../http/image-urls.ts'
import { amountFromPrice } from '../http/money.ts'
import { refuseLargeMetadata, refuseOtherDecimals, refuseUnknownCurrency } from '../http/values.ts'
import { holdShop } from '../access/hold.ts'
import type { Facts } from '../records/facts.ts'
import type { ShopScope } from '../access/scope.ts'
import { MAX_RECORD } from '../records/size.ts'
import { slugFromName } from '../records/slug.ts'
import { itemsOfPortion } from './portion.ts'
import { COLUMNS, initialColumns, LINKS } from './product-columns.ts'
import { type Found, foundOf, type Ready } from './product-found.ts'
import { type Linked, linkedBy, refuseWrongLinks, uniqueIds } from './product-links.ts'
import { productRows } from './product-repository.ts'
import type { ProductBatchResult, ProductChanges } from './product-schemas.ts'

type Fields = Static<typeof ProductChanges>

/** A product to create, or to change if there is an id. */
export interface ProductItem extends Fields {
  readonly id?: string
  /** In place of `price_amount`, in major units of the currency that the product has then. */
  readonly price?: string | number | null
}

/** Why an item cannot be written. */
export interface ItemProblem {
  /** The position of the item. */
  readonly index: number
  readonly error: FieldError
}

/** The outcome of an item. */
export interface ItemOutcome {
  readonly id: string
  readonly action: 'created' | 'updated' | 'unchanged'
  /** The entry of the history; null if nothing changed. */
  readonly change: string | null
}

/** How slugs are derived from names: `strict` refuses those that are taken, as when products are created one by one. */
export type SlugRule = 'strict' | 'distinct'

/** What the shop has, as far as the items mention it. All of it is locked. */
export interface Known extends Linked {
  /** The products that items change, by id. */
  readonly products: ReadonlyMap<string, Facts>
  /** The ids of the products that have a slug or SKU already. */
  readonly slugs: ReadonlyMap<string, string>
  readonly skus: ReadonlyMap<string, string>
}

/** The values of items that must be unique. */
export type Seen = Readonly<Record<'id' | 'slug' | 'sku', Set<string>>>

export const nothingSeen = (): Seen => ({ id: new Set(), slug: new Set(), sku: new Set() })

/** In minor units. */
export interface Price {
  readonly amount: number
  readonly currency: string
}

/** The expected outcome of an item. */
export interface ItemPreview {
  readonly index: number
  readonly action: ItemOutcome['action']
  /** Whether it changes the price of a product that has one. */
  readonly changesPrice: boolean
  /** The product before such a change, and its price after it. */
  readonly priceChange?: { readonly name: string, readonly before: Price, readonly after: Price | null }
  /** The price that it gives the product, and the one that the product has; null if it gives none. */
  readonly price: { readonly currency: string, readonly after: number, readonly before: number | null } | null
  /** About, as JSON, of a new product. */
  readonly bytes: number
  readonly found: Found
}

interface WriteOptions {
  readonly slugs?: SlugRule
  readonly seen?: Seen
  readonly refuse?: (ready: readonly Ready[]) => Promise<readonly ItemProblem[]>
}

interface Checked {
  readonly ready: readonly Ready[]
  readonly problems: readonly ItemProblem[]
}

/** Writes many products in few statements: as many for 500 as for one. */
export function productBatch (knex: Knex) {
  const rows = productRows(knex)

  /**
   * Links are locked before products, as deletions of them do.
   *
   * @param lock - the transaction in which all that the items mention is locked; default: nothing is
   * @returns what they link to
   */
  async function mentioned (
    on: Knex,
    shop: ShopScope,
    items: readonly ProductItem[],
    lock?: Knex.Transaction
  ): Promise<Linked> {
    const links = await linkedBy(on, shop, items, lock !== undefined)
    const ids = items.flatMap(({ id }) => id ?? [])
    if (lock !== undefined && ids.length > 0) await rows.lockMany(shop, ids, lock)
    return links
  }

  /**
   * Compares the items with what the shop has, and with each other.
   *
   * @param lock - the transaction in which all that they mention is locked; default: nothing is
   * @param seen - what earlier items of the same file have; this adds its own
   */
  async function checked (
    on: Knex,
    shop: ShopScope,
    items: readonly ProductItem[],
    { slugs, lock, seen = nothingSeen() }: {
      readonly slugs: SlugRule,
      readonly lock?: Knex.Transaction,
      readonly seen?: Seen
    }
  ): Promise<Checked> {
    const links = await mentioned(on, shop, items, lock)
    const products = await rows.factsOfMany(shop, items.flatMap(({ id }) => id ?? []), on)
    const known = { ...links, products, ...await takenNames(on, shop, items) }
    const { ready, problems } = compareItems(items, { shop, known, seen, rule: slugs })
    const tooLarge = await largeItems(on, shop, ready)
    if (tooLarge.size === 0) return { ready, problems }
    const more = Array.from(
      tooLarge,
      (index) => ({
        index,
        error: Object.assign(new SHOP_RECORD_TOO_LARGE('description, metadata or attributes'), { field: '' })
      })
    )
    return {
      ready: ready.filter(({ index }) => !tooLarge.has(index)),
      problems: [...problems, ...more].sort((a, b) => a.index - b.index)
    }
  }

  /** @returns the entries of the history, by product */
  async function writeReady (
    shop: ShopScope,
    items: readonly Ready[],
    trx: Knex.Transaction,
    reverts?: readonly string[]
  ): Promise<ReadonlyMap<string, string>> {
    await insertProducts(trx, shop, items.filter(({ before }) => before === null))
    // Before anything is added: a product must not be too large in between.
    await removeLinks(trx, shop, items)
    await updateProducts(trx, shop, items.filter(({ before }) => before !== null))
    await insertLinks(trx, shop, items)
    return await rows.settleMany(
      shop,
      items.map(({ index, id, before }) => ({ id, before, ...reverts !== undefined && { reverts: reverts[index]! } })),
      trx
    )
  }

  return {
    /**
     * Locks all that the items mention, before they are written in portions: two batches then wait in the same order.
     */
    async lock (shop: ShopScope, items: readonly ProductItem[], trx: Knex.Transaction): Promise<void> {
      await holdShop(trx, shop)
      await mentioned(trx, shop, items, trx)
    },

    /**
     * What {@link write} would do now.
     *
     * @param on - best a snapshot, in which nobody creates what the items want
     * @param seen - what earlier items of the same file have; this adds its own
     * @param refuse - says which of the items that could be written must not be
     */
    async preview (
      on: Knex,
      shop: ShopScope,
      items: readonly ProductItem[],
      seen: Seen,
      refuse: (ready: readonly Ready[]) => readonly ItemProblem[]
    ): Promise<{ readonly previews: readonly ItemPreview[], readonly problems: readonly ItemProblem[] }> {
      const { ready: writable, problems } = await checked(on, shop, items, { slugs: 'distinct', seen })
      const refused = refuse(writable)
      const ready = writable.filter(({ index }) => !refused.some((problem) => problem.index === index))
      return {
        problems: [...problems, ...refused],
        previews: ready.map((item) => ({ index: item.index, ...previewOf(item) }))
      }
    },

    /**
     * Writes the items that can be written, and says why others cannot. Items that change nothing leave no trace.
     *
     * @param slugs - default: `strict`
     * @param seen - what earlier items of the same batch have; this adds its own
     * @param refuse - says which of the items that could be written must not be; their products are locked
     * @returns what became of each item, undefined for those with a problem; and the problems, in the order of the
     *   items
     * @throws {@link SHOP_GONE}, and what the database refuses: a quota, too large a record, what others wrote
     *   meanwhile
     */
    async write (
      shop: ShopScope,
      items: readonly ProductItem[],
      trx: Knex.Transaction,
      { slugs = 'strict', seen, refuse = async () => [] }: WriteOptions = {}
    ): Promise<{ outcomes: ReadonlyArray<ItemOutcome | undefined>, problems: readonly ItemProblem[] }> {
      await holdShop(trx, shop)
      const { ready: writable, problems } = await checked(trx, shop, items, { slugs, lock: trx, ...seen && { seen } })
      const refused = await refuse(writable)
      const ready = writable.filter(({ index }) => !refused.some((problem) => problem.index === index))
      const changes = await writeReady(shop, ready.filter(isChange), trx)
      const outcomes: Array<ItemOutcome | undefined> = items.map(() => undefined)
      for (const { index, id, before } of ready) {
        const change = changes.get(id) ?? null
        const kept = change === null ? 'unchanged' : 'updated'
        outcomes[index] = { id, action: before === null ? 'created' : kept, change }
      }
      return { outcomes, problems: [...problems, ...refused].sort((a, b) => a.index - b.index) }
    },

    /**
     * Takes changes of products back, each of another one: all of them, or none.
     *
     * @param items - the fields of each as they were
     * @param reverts - the ids of those changes
     * @param mayRun - gets the facts of the products, which are locked
     * @returns false, before it writes anything, if one of them cannot be taken back
     */
    async revert (
      shop: ShopScope,
      items: readonly ProductItem[],
      trx: Knex.Transaction,
      reverts: readonly string[],
      mayRun: (facts: ReadonlyMap<string, Facts>) => boolean
    ): Promise<boolean> {
      const { ready, problems } = await checked(trx, shop, items, { slugs: 'strict', lock: trx })
      if (
        problems.length > 0 || !mayRun(new Map(ready.map(({ id, before }) => [id, before!]))) || !ready.every(isChange)
      ) return false
      await writeReady(shop, ready, trx, reverts)
      return true
    }
  }
}

/**
 * Writes all items in one transaction, or none: one portion after the other, as the products that they change may be
 * large.
 *
 * @param on - the pool, or the transaction in which this one is
 * @throws what is wrong with the first item that cannot be written, with its place: `items/3/price_amount`
 */
export async function writeBatch (
  knex: Knex,
  shop: ShopScope,
  items: readonly ProductItem[],
  on: Knex = knex
): Promise<Static<typeof ProductBatchResult>> {
  const batch = productBatch(knex)
  const outcomes = await tried(async () =>
    await on.transaction(async (trx) => {
      const [written, seen]: [ItemOutcome[], Seen] = [[], nothingSeen()]
      while (written.length < items.length) {
        const rest = items.slice(written.length)
        const portion = rest.slice(0, await itemsOfPortion(trx, shop, rest))
        if (written.length === 0 && portion.length < items.length) await batch.lock(shop, items, trx)
        const { outcomes, problems: [problem] } = await batch.write(shop, portion, trx, { seen })
        if (problem !== undefined) throw errorOfItem({ ...problem, index: written.length + problem.index })
        written.push(...outcomes as readonly ItemOutcome[])
      }
      return written
    })
  )
  const count = (wanted: ItemOutcome['action']): number => outcomes.filter(({ action }) => action === wanted).length
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    items: outcomes.map(({ id, action }) => ({ id, action }))
  }
}

function errorOfItem ({ index, error }: ItemProblem): FieldError {
  const place = `items/${index}`
  const field = error.field === '' ? place : `${place}/${error.field}`
  return Object.assign(error, {
    field,
    message: error.field !== '' && error.message.startsWith(error.field)
      ? `${field}${error.message.slice(error.field.length)}`
      : `${place}: ${error.message}`
  })
}

/** @returns the ids of the products that have these slugs or SKUs */
export async function ownersOf (
  on: Knex,
  shop: Pick<ShopScope, 'id'>,
  column: 'slug' | 'sku',
  values: readonly string[]
): Promise<ReadonlyMap<string, string>> {
  if (values.length === 0) return new Map()
  const found: Array<Record<'id' | 'slug' | 'sku', string>> = await on('products').where({ shop_id: shop.id }).whereRaw(
    '?? = any(?)',
    [column, [...new Set(values)]]
  ).select('id', column)
  return new Map(found.map((row) => [row[column], row.id]))
}

/** @returns which products have the slugs and SKUs that the items want */
async function takenNames (
  on: Knex,
  shop: Pick<ShopScope, 'id'>,
  items: readonly ProductItem[]
): Promise<Pick<Known, 'slugs' | 'skus'>> {
  const slugs = await ownersOf(
    on,
    shop,
    'slug',
    items.flatMap((item) =>
      item.slug ?? (item.id === undefined && item.name !== undefined ? derivedSlug(item.name) ?? [] : [])
    )
  )
  return { slugs, skus: await ownersOf(on, shop, 'sku', items.flatMap(({ sku }) => sku ?? [])) }
}

/** @returns undefined if nothing of the name can be transliterated */
function derivedSlug (name: string): string | undefined {
  try {
    return slugFromName(name)
  } catch {
    return undefined
  }
}

/** What items are compared with. */
interface Comparing {
  readonly shop: Pick<ShopScope, 'currency'>
  readonly known: Known
  readonly seen: Seen
  readonly rule: SlugRule
}

/** Compares the items with what the shop has, and with each other. */
export function compareItems (items: readonly ProductItem[], comparing: Comparing): Checked {
  const ready: Ready[] = []
  const problems: ItemProblem[] = []
  for (const [index, item] of items.entries()) {
    try {
      ready.push(readyItem(index, item, comparing))
    } catch (error) {
      if ((error as FieldError).field === undefined) throw error
      problems.push({ index, error: error as FieldError })
    }
  }
  return { ready, problems }
}

/** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID}, with a field */
function readyItem (index: number, { id: given, price, ...rest }: ProductItem, comparing: Comparing): Ready {
  const { shop, known, seen } = comparing
  const id = given?.toLowerCase() ?? randomUUID()
  const before = given === undefined ? null : known.products.get(id)
  if (before === undefined) throw invalid('id', 'id names something that is not in this shop')
  if (before !== null) refuseTwice(seen.id, 'id', id)
  if (before === null && rest.name === undefined) throw invalid('name', 'name is required')
  refuseUnknownCurrency(rest)
  const currency = rest.currency ?? (before?.['currency'] as string | undefined) ?? shop.currency
  const fields = price === undefined
    ? rest
    : { ...rest, price_amount: price === null ? null : amountFromPrice(price, currency) }
  if (before !== null) {
    refuseOtherDecimals(
      'price_amount',
      before as { readonly price_amount: number | null, readonly currency: string },
      fields
    )
  }
  refuseLargeMetadata(fields)
  refuseUnsafeImages(fields)
  refuseWrongLinks(fields, known)
  if (fields.sku != null) refuseTaken('sku', fields.sku, id, comparing)
  const slug = slugOf(fields, before === null, id, comparing)
  const { category_ids: categories, tag_ids: tags, attributes } = fields
  return {
    index,
    id,
    before,
    fields: {
      ...before === null && initialColumns(shop),
      ...fields,
      ...slug !== undefined && { slug },
      // As the facts of a product have them.
      ...categories !== undefined && { category_ids: uniqueIds(categories) },
      ...tags !== undefined && { tag_ids: uniqueIds(tags) },
      ...attributes !== undefined &&
        {
          attributes: attributes.map(({ attribute_id: attribute, value }) => ({
            attribute_id: attribute.toLowerCase(),
            value
          })).sort((a, b) => a.attribute_id < b.attribute_id ? -1 : 1)
        }
    }
  }
}

/** @returns the slug to write; undefined if it stays */
function slugOf (
  { slug, name }: Fields,
  isNew: boolean,
  id: string,
  comparing: Comparing
): string | undefined {
  if (slug === undefined && !isNew) return undefined
  const { known, seen, rule } = comparing
  const wanted = slug ?? slugFromName(name!)
  if (slug === undefined && rule === 'distinct' && (seen.slug.has(wanted) || known.slugs.has(wanted))) {
    return `${wanted.slice(0, 180).replace(/-$/, '')}-${id.slice(0, 8)}`
  }
  refuseTaken('slug', wanted, id, comparing)
  return wanted
}

function refuseTaken (
  field: 'slug' | 'sku',
  value: string,
  id: string,
  { known, seen }: Pick<Comparing, 'known' | 'seen'>
): void {
  const owner = (field === 'sku' ? known.skus : known.slugs).get(value)
  if (owner !== undefined && owner !== id) throw taken(field)
  refuseTwice(seen[field], field, value)
}

function refuseTwice (seen: Set<string>, field: string, value: string): void {
  if (seen.has(value)) throw conflict(field, `${field} appears twice: ${value}`)
  seen.add(value)
}

function previewOf (item: Ready): Omit<ItemPreview, 'index'> {
  const { before, fields } = item
  const { price_amount: after, currency } = { ...before, ...fields } as {
    readonly price_amount: number | null,
    readonly currency: string
  }
  const price = typeof fields['price_amount'] !== 'number' || after === null
    ? null
    : { currency, after, before: before?.['currency'] === currency ? before['price_amount'] as number | null : null }
  const found = foundOf(item)
  if (before === null) {
    return {
      action: 'created',
      changesPrice: false,
      price,
      found,
      bytes: 400 + Buffer.byteLength(JSON.stringify(fields))
    }
  }
  const changesPrice =
    ['price_amount', 'currency'].some((name) => fields[name] !== undefined && fields[name] !== before[name]) &&
    before['price_amount'] !== null
  const { name, price_amount: amount, currency: code } = before as {
    readonly name: string,
    readonly price_amount: number,
    readonly currency: string
  }
  const priceChange = {
    name,
    before: { amount, currency: code },
    after: after === null ? null : { amount: after, currency }
  }
  return {
    action: isChange(item) ? 'updated' : 'unchanged',
    changesPrice,
    ...changesPrice && { priceChange },
    price,
    found,
    bytes: 0
  }
}

/** A product of fewer characters is never too large: one may take six bytes. */
const SURELY_SMALL = MAX_RECORD / 8

/**
 * @returns the positions of the items whose products would be larger than a record may be, as the database measures it
 */
async function largeItems (
  on: Knex,
  shop: Pick<ShopScope, 'id'>,
  items: readonly Ready[]
): Promise<ReadonlySet<number>> {
  const rows = items.map(({ index, id, before, fields }) => ({ index, id, fields, whole: { ...before, ...fields } }))
    .filter(({ whole }) => JSON.stringify(whole).length > SURELY_SMALL)
    .map(({ whole, fields, ...row }) => ({ ...row, fields: { ...fields, part_bytes: partBytes(whole) } }))
  if (rows.length === 0) return new Set()
  const found: ReadonlyArray<{ readonly index: number }> = (await on.raw(
    `select given.index from ? left join products was on was.id = given.id and was.shop_id = ?
      cross join lateral jsonb_populate_record(was, given.fields) became
    where record_bytes(became) > greatest(was.bytes, ?)`,
    [given(on, rows, 'index int, id uuid, fields jsonb'), shop.id, MAX_RECORD]
  )).rows
  return new Set(found.map(({ index }) => index))
}

/** What the links and pictures of a product add to its size, as the triggers of their tables count it. */
function partBytes (
  { category_ids: categories = [], tag_ids: tags = [], attributes = [], image_urls: urls = [] }: Pick<
    Fields,
    'category_ids' | 'tag_ids' | 'attributes' | 'image_urls'
  >
): number {
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
  return 39 * (categories.length + tags.length) + attributes.reduce((sum, { value }) => sum + 66 + bytesOf(value), 0) +
    urls.reduce((sum, url) => sum + 2 + bytesOf(url), 0)
}

/** Whether an item makes a difference. */
function isChange ({ before, fields }: Ready): boolean {
  return before === null || Object.entries(fields).some(([name, value]) => !isDeepStrictEqual(before[name], value))
}

const given = (trx: Knex, rows: readonly object[], columns: string): Knex.Raw =>
  trx.raw(`jsonb_to_recordset(?::jsonb) as given(${columns})`, [JSON.stringify(rows)])

async function insertProducts (trx: Knex.Transaction, shop: ShopScope, items: readonly Ready[]): Promise<void> {
  if (items.length === 0) return
  // In the order of their slugs, in which concurrent writers wait for each other.
  const rows = items.toSorted((a, b) => String(a.fields['slug']) < String(b.fields['slug']) ? -1 : 1).map((
    { id, fields }
  ) => ({ ...fields, id }))
  await trx.raw(
    `insert into products (id, shop_id, ${COLUMNS.join(', ')}) select id, ?, ${COLUMNS.join(', ')} from ` +
      'jsonb_populate_recordset(null::products, ?::jsonb)',
    [shop.id, JSON.stringify(rows)]
  )
}

async function updateProducts (trx: Knex.Transaction, shop: ShopScope, items: readonly Ready[]): Promise<void> {
  if (items.length === 0) return
  await trx.raw(
    `update products set updated_at = ?, ${COLUMNS.map((name) => `${name} = item.${name}`).join(', ')}
    from (select was.id, ${
      COLUMNS.map((name) => `became.${name}`).join(', ')
    } from ? join products was on was.id = given.id and was.shop_id = ?
      cross join lateral jsonb_populate_record(was, given.fields) became) item
    where products.id = item.id and products.shop_id = ?`,
    [
      newer(trx, 'products.updated_at'),
      given(trx, items.map(({ id, fields }) => ({ id, fields })), 'id uuid, fields jsonb'),
      shop.id,
      shop.id
    ]
  )
}

/** Those whose links in a field change. */
function relinked (items: readonly Ready[], field: string): readonly Ready[] {
  return items.filter(({ before, fields }) =>
    fields[field] !== undefined &&
    !(before === null ? isEmpty(fields[field]) : isDeepStrictEqual(before[field], fields[field]))
  )
}

async function removeLinks (trx: Knex.Transaction, shop: ShopScope, items: readonly Ready[]): Promise<void> {
  for (const [field, { table }] of Object.entries(LINKS)) {
    const ids = relinked(items, field).filter(({ before }) => before !== null).map(({ id }) => id)
    if (ids.length > 0) {
      await trx(table).where({ shop_id: shop.id }).whereRaw('product_id = any(?::uuid[])', [ids]).delete()
    }
  }
}

async function insertLinks (trx: Knex.Transaction, shop: ShopScope, items: readonly Ready[]): Promise<void> {
  for (const [field, { table, column }] of Object.entries(LINKS)) {
    const links = relinked(items, field).flatMap(({ id, fields }) =>
      (fields[field] as ReadonlyArray<string | { readonly attribute_id: string, readonly value: unknown }>)
        .map((link) => typeof link === 'string' ? { id, link } : { id, link: link.attribute_id, value: link.value })
    )
    if (links.length === 0) continue
    const value = field === 'attributes' ? ', value' : ''
    await trx.raw(`insert into ?? (shop_id, product_id, ??${value}) select ?, given.id, given.link${value} from ?`, [
      table,
      column,
      shop.id,
      given(trx, links, 'id uuid, link uuid, value jsonb')
    ])
  }
}

function isEmpty (value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
