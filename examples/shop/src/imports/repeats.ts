import type { Knex } from 'knex'
import type { ShopScope } from '../access/scope.ts'
import { type ItemPreview, ownersOf } from '../catalog/product-batch.ts'
import { slugOf } from './foreign-cells.ts'
import { sentence } from './notes.ts'
import { counted, quoted } from './words.ts'

interface Product {
  readonly name?: string
  readonly slug?: string
  readonly sku?: string | null
}

/** New products that no line finds again, since it has neither an SKU nor a slug: the file makes them twice. */
export function repeatedProducts () {
  /** Examples, by the slugs of their names. */
  const found = new Map<string, string>()
  let count = 0

  return {
    add (line: number, { name, slug, sku }: Product, { action }: Pick<ItemPreview, 'action'>): void {
      if (action !== 'created' || slug !== undefined || sku != null || name === undefined) return
      count += 1
      found.set(slugOf(name) ?? name, `${quoted(name)} in line ${line}`)
    },

    /** @returns a sentence, if there are any */
    async all (on: Knex, shop: Pick<ShopScope, 'id'>): Promise<readonly string[]> {
      if (count === 0) return []
      const owners = await ownersOf(on, shop, 'slug', [...found.keys()])
      const taken = [...found].flatMap(([slug, example]) => owners.has(slug) ? example : [])
      const has = (number: number): string => `${counted(number, 'new product has', 'new products have')} no SKU`
      if (taken.length === 0) {
        const says = sentence(`${has(count)} and no slug`, [...found.values()].slice(0, 3), count)
        return [`${says}. If the file is imported again, it creates them again`]
      }
      return [
        `${
          sentence(`${has(taken.length)}, and the shop has the same name`, taken.slice(0, 3), taken.length)
        }. The import ` +
        'creates them again. To change those that there are, give each line an SKU, a slug or the id'
      ]
    }
  }
}
