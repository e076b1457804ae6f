import type { Knex } from 'knex'
import { excerpt } from '#shared/excerpt'
import type { ItemPreview } from '../catalog/product-batch.ts'
import { digitsOf } from '../http/money.ts'
import type { ShopScope } from '../access/scope.ts'

/** What a spreadsheet does to cells, and how people see to it that it does not. */
const SIGNS = {
  rounded: {
    form: /^\d(?:[.,]\d+)?E\+?\d+$/i,
    says: 'SKUs look like numbers that a spreadsheet has rounded',
    remedy: 'format the column as text, and enter them again'
  },
  dated: {
    form: /^(?:\d{1,2}[-/.](?:\d{1,2}[-/.](?:\d{4}|\d{2})|[A-Z]{3}(?:[-/.]\d{2,4})?)|\d{4}-\d{2}-\d{2})$/i,
    says: 'SKUs look like dates that a spreadsheet has made',
    remedy: 'format the column as text, and enter them again'
  },
  garbled: {
    form: new RegExp(
      'Ã[\\u0080-\\u00bf\\u0152\\u0153\\u0160\\u0161\\u0178\\u0192\\u02c6\\u02dc\\u2013-\\u203a\\u20ac\\u2122]' +
        '|â[\\u0080-\\u00bf\\u0192\\u201a\\u2020-\\u2022\\u20ac]|Â[\\u00a0-\\u00bf]'
    ),
    says: 'Texts look as if the file was saved in another encoding',
    remedy: 'save it as CSV UTF-8'
  }
} as const

interface Product {
  readonly name?: string
  readonly sku?: string | null
  readonly description?: string | null
  readonly price?: string | number | null
}

/**
 * Signs that a spreadsheet has changed the products of a file. Nobody can be sure of them, so the file is not refused.
 */
export function spreadsheetSigns () {
  const found = new Map<keyof typeof SIGNS, { count: number, readonly line: number, readonly text: string }>()
  /** New SKUs of digits that begin with none, by their lines. */
  const digits = new Map<string, number>()
  /** Prices that a comma before decimals makes doubtful: 1.234 in a currency of three decimals. */
  const pointed: Array<{ readonly line: number, readonly price: string, readonly currency: string }> = []
  let hasCommas = false

  function note (sign: keyof typeof SIGNS, line: number, text: string): void {
    if (!SIGNS[sign].form.test(text)) return
    const seen = found.get(sign)
    if (seen === undefined) found.set(sign, { count: 1, line, text })
    else seen.count += 1
  }

  return {
    /**
     * @param preview - says whether the product gets the SKU: one that it has is right
     * @param currency - of the price, if there is one
     */
    add (
      line: number,
      { name, sku, description, price }: Product,
      { action, found: { fields } }: Pick<ItemPreview, 'action' | 'found'>,
      currency?: string
    ): void {
      if (typeof price === 'string' && currency !== undefined) {
        if (/,\d{1,2}$|\.\d{3},\d+$/.test(price)) hasCommas = true
        else if (digitsOf(currency) === 3 && /^[1-9]\d{0,2}\.\d{3}$/.test(price)) {
          pointed.push({ line, price, currency })
        }
      }
      for (const text of [name, description]) if (text != null) note('garbled', line, text)
      if (sku == null || (action !== 'created' && fields['sku'] === undefined)) return
      note('rounded', line, sku)
      note('dated', line, sku)
      if (/^[1-9]\d*$/.test(sku)) digits.set(sku, line)
    },

    /** @returns a sentence for each sign */
    async all (knex: Knex, shop: Pick<ShopScope, 'id'>): Promise<readonly string[]> {
      const sentences = [...found].map(([sign, { count, line, text }]) =>
        `${SIGNS[sign].says}: ${JSON.stringify(excerpt(text, 60))} in line ` +
        `${line}${count > 1 ? ` and ${count - 1} more` : ''}. If so, ${SIGNS[sign].remedy}`
      )
      const zeros = digits.size === 0
        ? []
        : await knex('products').where({ shop_id: shop.id }).where('sku', 'like', '0%').whereRaw(
          "ltrim(sku, '0') = any(?)",
          [[...digits.keys()]]
        ).orderBy('sku').limit(1).pluck<string[]>('sku')
      const [first] = hasCommas ? pointed : []
      const thousands = first === undefined
        ? []
        : [
          `Prices may mean thousands: ${first.price} in line ` +
          `${first.line}${pointed.length > 1 ? ` and ${pointed.length - 1} more` : ''} is read as ` +
          `${first.price} ${first.currency}, while others have a comma before decimals. If so, write ` +
          `${first.price.replace('.', '')}`
        ]
      return [
        ...sentences,
        ...thousands,
        ...zeros.map((sku) => {
          const bare = sku.replace(/^0+/, '')
          return `SKUs may have lost zeros at their beginning: ${JSON.stringify(bare)} in line ${
            digits.get(bare)
          } is ` +
            `new, and the shop has ${JSON.stringify(sku)}. If so, format the column as text, and enter them again`
        })
      ]
    }
  }
}
