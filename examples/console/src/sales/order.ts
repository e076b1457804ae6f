/** A product of an order, as it was then. */
interface Line {
  /** Null: the product was deleted. */
  readonly product_id: string | null
  readonly name: string
  readonly sku: string | null
  readonly unit_amount: number
  readonly quantity: number
}

/** An order, as its list and page need it. */
export interface Order {
  readonly id: string
  readonly status: string
  readonly currency: string
  readonly total_amount: number
  readonly created_at: string
  readonly updated_at: string
  /** Null: the account was deleted. */
  readonly account_id: string | null
  readonly lines: readonly Line[]
}

/** The number by which people call an order: how its id begins. The search of the server finds it. */
export function numberOf ({ id }: Pick<Order, 'id'>): string {
  return id.slice(0, 8)
}
