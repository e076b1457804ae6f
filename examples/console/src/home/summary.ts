/** One day of the chart: how much was changed by whom. */
export interface Day {
  /** `2026-11-23`, in the zone of the shop. */
  readonly day: string
  readonly agents: number
  readonly people: number
  readonly others: number
}

/** The numbers of a shop, as the server counts them. */
export interface Summary {
  readonly products: { readonly all: number, readonly active: number, readonly draft: number }
  readonly orders: { readonly all: number, readonly pending: number }
  readonly api_keys: { readonly active: number, readonly expiring: number }
  readonly accounts: { readonly all: number, readonly unlinked: number }
  readonly days: readonly Day[]
}
