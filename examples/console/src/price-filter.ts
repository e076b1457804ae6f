import { amountFrom, amountText, isCurrency } from './money.ts'

/** A range of prices as people type it, in one currency: amounts of several cannot be compared. */
export interface PriceRange {
  readonly currency: string
  /** Empty for any. */
  readonly from: string
  readonly to: string
}

/** The part of a filter of products that is about prices. */
export interface PriceFilter {
  readonly currency?: string | readonly string[]
  readonly price_amount_gte?: number
  readonly price_amount_lte?: number
}

/** The range of a filter. @param fallback - the currency if the filter has none */
export function rangeOfFilter (filter: PriceFilter, fallback: string, locale: string): PriceRange {
  const currency = [filter.currency ?? []].flat()[0] ?? fallback
  const text = (amount: number | undefined): string => amountText(amount, currency, locale)
  return { currency, from: text(filter.price_amount_gte), to: text(filter.price_amount_lte) }
}

/** Whether an end of the range is no amount of its currency. */
export function isBadEnd ({ currency, ...ends }: PriceRange, end: 'from' | 'to', locale: string): boolean {
  return amountFrom(ends[end], currency, locale) === undefined
}

/** The filter of a range. @returns undefined if its currency or an end is none */
export function filterOfRange (range: PriceRange, locale: string): PriceFilter | undefined {
  const { currency, from, to } = range
  if (!isCurrency(currency) || isBadEnd(range, 'from', locale) || isBadEnd(range, 'to', locale)) return undefined
  const amount = (text: string): number | null | undefined => amountFrom(text, currency, locale)
  const bounds = { price_amount_gte: amount(from), price_amount_lte: amount(to) }
  return { currency: [currency], ...Object.fromEntries(Object.entries(bounds).filter(([, amount]) => amount !== null)) }
}
