import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { invalid } from '../errors.ts'
import type { ShopScope } from '../access/scope.ts'
import { type AttributeRule, misfit } from './attribute-values.ts'
import type { Link } from './product-columns.ts'
import type { ProductChanges } from './product-schemas.ts'

type Links = Pick<Static<typeof ProductChanges>, Link>

/** What a shop has of what products link to. */
export interface Linked {
  readonly categories: ReadonlySet<string>
  readonly tags: ReadonlySet<string>
  readonly attributes: ReadonlyMap<string, AttributeRule>
}

/** Reads what products link to, and locks it until the transaction ends if `isLocking`. */
export async function linkedBy (
  on: Knex,
  shop: ShopScope,
  products: readonly Links[],
  isLocking: boolean
): Promise<Linked> {
  const read = async (table: string, ids: readonly string[]): Promise<AttributeRule[]> => {
    const wanted = uniqueIds(ids)
    if (wanted.length === 0) return []
    const found = on(table).where({ shop_id: shop.id }).whereRaw('id = any(?::uuid[])', [wanted]).orderBy('id')
    return await (isLocking ? found.forShare() : found)
  }
  const categories = await read('categories', products.flatMap(({ category_ids: ids = [] }) => ids))
  const tags = await read('tags', products.flatMap(({ tag_ids: ids = [] }) => ids))
  const attributes = await read(
    'attributes',
    products.flatMap(({ attributes = [] }) => attributes.map(({ attribute_id: id }) => id))
  )
  return {
    categories: idsOf(categories),
    tags: idsOf(tags),
    attributes: new Map(attributes.map((rule) => [rule.id, rule]))
  }
}

function idsOf (rows: ReadonlyArray<{ readonly id: string }>): ReadonlySet<string> {
  return new Set(rows.map(({ id }) => id))
}

/**
 * @throws {@link SHOP_INVALID} about the first link of a product that is not in the shop, or has a value that does not
 * fit
 */
export function refuseWrongLinks ({ category_ids: categories, tag_ids: tags, attributes }: Links, known: Linked): void {
  refuseUnknownLinks('category_ids', categories, known.categories)
  refuseUnknownLinks('tag_ids', tags, known.tags)
  refuseMisfits(attributes, known.attributes)
}

function refuseUnknownLinks (field: string, ids: readonly string[] | undefined, known: ReadonlySet<string>): void {
  const missing = ids?.findIndex((id) => !known.has(id.toLowerCase())) ?? -1
  if (missing !== -1) {
    throw invalid(`${field}/${missing}`, `${field}/${missing} names something that is not in this shop`)
  }
}

function refuseMisfits (values: Links['attributes'], rules: ReadonlyMap<string, AttributeRule>): void {
  const seen = new Set<string>()
  for (const [index, { attribute_id: given, value }] of (values ?? []).entries()) {
    const [field, id] = [`attributes/${index}/attribute_id`, given.toLowerCase()]
    const rule = rules.get(id)
    if (rule === undefined) throw invalid(field, `${field} names something that is not in this shop`)
    if (seen.has(id)) throw invalid(field, `${field} appears twice`)
    seen.add(id)
    const why = misfit(rule, value)
    if (why !== undefined) throw invalid(`attributes/${index}/value`, `attributes/${index}/value ${why}`)
  }
}

/** An id may be given twice in different case. */
export function uniqueIds (ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))].sort()
}
