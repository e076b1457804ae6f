import type { Knex } from 'knex'
import { quoted } from 'mcp-from-routes/confirm'
import type { Asking } from '../http/asking.ts'
import { askBefore } from '../shops/asking.ts'
import type { Deletion as Effect } from '../records/deleting.ts'
import type { ShopScope } from '../access/scope.ts'

/** The words of the question for rows that a deletion affects: for one, and for several. */
type Effects = Readonly<Record<string, readonly [one: string, several: string]>>

type Deletion = Effect<{ readonly name: string, readonly sku?: string | null }>

interface Deletable {
  deletion(shop: ShopScope, id: string): Promise<Deletion>
}

/** The records that agents delete, and what is said of others. */
const EFFECTS = {
  product: {
    orders: ['order mentions it', 'orders mention it'],
    prices: ['price is deleted with it', 'prices are deleted with it']
  },
  category: {
    products: ['product is in it, and stays', 'products are in it, and stay'],
    categories: ['category below it moves to the top level', 'categories below it move to the top level']
  },
  tag: { products: ['product loses it', 'products lose it'] },
  attribute: { products: ['product loses its value', 'products lose their values'] }
} as const satisfies Readonly<Record<string, Effects>>

/**
 * The question to a person before an agent deletes a record: `Delete the product “Gooseneck Kettle” (SKU “CK-1003”)?`,
 * with what else it would affect. A shop can turn the question off.
 */
export function askBeforeDeletion (knex: Knex, noun: keyof typeof EFFECTS, records: Deletable): Asking<Deletion> {
  const read = async ({ shop, params }: { readonly shop: ShopScope, readonly params: unknown }): Promise<Deletion> =>
    await records.deletion(shop, (params as Readonly<Record<string, string>>)[`${noun}_id`]!)
  return askBefore(knex, read, (deletion) => deletionQuestion(noun, deletion))
}

function deletionQuestion (noun: keyof typeof EFFECTS, { row: { name, sku }, affected }: Deletion): string {
  const effects = Object.entries<readonly [string, string]>(EFFECTS[noun]).flatMap(([table, [one, several]]) => {
    const count = affected[table] ?? 0
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}.`]
  })
  return [
    `Delete the ${noun} ${quoted(name)}${sku == null ? '' : ` (SKU ${quoted(sku)})`}?`,
    ...effects,
    'It can be restored from the history.'
  ].join('\n')
}
