import type { ShopScope } from '../access/scope.ts'

/** Where a row is, if it is. */
export interface RowPlace {
  readonly shop: ShopScope
  readonly id: string
}

/** Its columns: rows of other shops count as missing. */
export function columnsAt ({ shop, id }: RowPlace): { readonly shop_id: string, readonly id: string } {
  return { shop_id: shop.id, id }
}
