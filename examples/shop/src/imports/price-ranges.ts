import type { Static } from '@sinclair/typebox'
import type { ItemPreview, Price } from '../catalog/product-batch.ts'
import { priceFromAmount } from '../http/money.ts'
import type { ImportPreview } from './schemas.ts'

interface Range {
  lowest: number
  highest: number
}

/** The lowest and the highest price of a file, and of what they replace, by currency. */
export function priceRanges () {
  const found = new Map<string, { readonly after: Range, before?: Range }>()

  return {
    add ({ price, changesPrice }: Pick<ItemPreview, 'price' | 'changesPrice'>): void {
      if (price === null) return
      const { currency, after, before } = price
      const range = found.get(currency) ?? { after: { lowest: after, highest: after } }
      found.set(currency, range)
      widen(range.after, after)
      if (changesPrice && before !== null) widen(range.before ??= { lowest: before, highest: before }, before)
    },

    /** @returns the ranges in major units, by the names of the currencies */
    all (): Static<typeof ImportPreview>['prices'] {
      return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([currency, { after, before }]) => ({
        currency,
        lowest: priceFromAmount(after.lowest, currency),
        highest: priceFromAmount(after.highest, currency),
        lowest_before: before === undefined ? null : priceFromAmount(before.lowest, currency),
        highest_before: before === undefined ? null : priceFromAmount(before.highest, currency)
      }))
    }
  }
}

const words = ({ amount, currency }: Price): string => `${priceFromAmount(amount, currency)} ${currency}`

/** A price before and after, for people. */
export function changedPrice (
  { name, before, after }: NonNullable<ItemPreview['priceChange']>
): { name: string, before: string, after: string | null } {
  return { name, before: words(before), after: after === null ? null : words(after) }
}

function widen (range: Range, amount: number): void {
  range.lowest = Math.min(range.lowest, amount)
  range.highest = Math.max(range.highest, amount)
}
