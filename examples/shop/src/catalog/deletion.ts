import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { type Confirm, quoted } from 'mcp-from-routes'
import { configRepository } from '../shops/config-repository.ts'
import type { ShopScope } from '../shops/scope.ts'

/** The words of the question for rows that a deletion affects: for one, and for several. */
type Effects = Readonly<Record<string, readonly [one: string, several: string]>>

interface Deletable {
  deletion (shop: ShopScope, id: string): Promise<{ readonly row: { readonly name: string, readonly sku?: string | null }, readonly affected: Readonly<Record<string, number>> }>
}

/** The records that agents delete, and what is said of others. */
const EFFECTS = {
  product: { orders: ['order mentions it', 'orders mention it'], prices: ['price is deleted with it', 'prices are deleted with it'] },
  category: { products: ['product is in it, and stays', 'products are in it, and stay'], categories: ['category below it moves to the top level', 'categories below it move to the top level'] },
  tag: { products: ['product loses it', 'products lose it'] },
  attribute: { products: ['product loses its value', 'products lose their values'] }
} as const satisfies Readonly<Record<string, Effects>>

/**
 * The question to a person before an agent deletes a record: `Delete the product “Gooseneck Kettle” (SKU “CK-1003”)?`, with
 * what else it would affect. A shop can turn the question off.
 */
export function askBeforeDeletion (knex: Knex, noun: keyof typeof EFFECTS, records: Deletable): { readonly confirm: Confirm } {
  const shops = configRepository(knex)
  return {
    async confirm (_args, { shop, params }: FastifyRequest) {
      if (!(await shops.get(shop)).confirm_agent_calls) return undefined
      const { row, affected } = await records.deletion(shop, (params as Readonly<Record<string, string>>)[`${noun}_id`]!)
      return deletionQuestion(noun, row, affected)
    }
  }
}

function deletionQuestion (noun: keyof typeof EFFECTS, { name, sku }: { readonly name: string, readonly sku?: string | null }, affected: Readonly<Record<string, number>>): string {
  const effects = Object.entries<readonly [string, string]>(EFFECTS[noun]).flatMap(([table, [one, several]]) => {
    const count = affected[table] ?? 0
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}.`]
  })
  return [`Delete the ${noun} ${quoted(name)}${sku == null ? '' : ` (SKU ${quoted(sku)})`}?`, ...effects, 'It can be restored from the history.'].join('\n')
}
