import { invalid } from '../errors.ts'

/** Amounts are integers in minor units of their currency: 1999 is 19.99 EUR, and 1999 JPY. Prices are what people write. */

/** @returns how many digits a currency has behind its decimal point: 2 in EUR, 0 in JPY, 3 in KWD */
export function digitsOf (currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits!
}

/** `1999` in EUR is `19.99`; exact, since it is never a float. */
export function priceFromAmount (amount: number, currency: string): string {
  const digits = digitsOf(currency)
  const text = String(amount).padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** A number with a decimal point or comma, and one whose thousands are grouped by the other of the two, blanks or an apostrophe. */
const PLAIN = /^(\d{1,16})(?:([.,])(\d{1,10}))?$/
const GROUPED = /^\d{1,3}(?:([.,'’])\d{3})(?:\1\d{3})*(?:([.,])(\d{1,10}))?$/

/**
 * Reads a price in major units of its currency: `19.99`, `19,99`, `1.999,50`.
 *
 * @throws {@link SHOP_INVALID} about `price`, if it is no amount of that currency, or could be one of two
 */
export function amountFromPrice (price: string, currency: string): number {
  const text = price.trim().replace(/(?<=\d)[\s\u00a0\u202f](?=\d{3})/g, '')
  const digits = digitsOf(currency)
  const no = (why: string): never => { throw invalid('price', `price is ${JSON.stringify(price.slice(0, 30))}, ${why}`) }
  const [, whole, separator, fraction = ''] = PLAIN.exec(text) ?? []
  if (whole === undefined) {
    const [grouped, group, decimal = '', parts = ''] = GROUPED.exec(text) ?? []
    if (grouped === undefined || group === decimal || parts.length > digits) return no(`not an amount in ${currency}: write it as ${priceFromAmount(1999, currency)}`)
    const rest = decimal === '' ? grouped : grouped.slice(0, -parts.length - 1)
    return safe(rest.replace(/\D/g, '') + parts.padEnd(digits, '0')) ?? no('which is too large')
  }
  // 1,999 with three digits may be nearly two, or nearly two thousand.
  if (fraction.length === 3 && (digits !== 3 || separator === ',')) {
    if (digits === 0) return safe(whole + fraction) ?? no('which is too large')
    return no(`which may be ${whole}.${fraction} or ${whole}${fraction}: write it without separators of thousands, as ${priceFromAmount(1999, currency)}`)
  }
  if (fraction.length > digits) return no(`and ${currency} has ${digits === 0 ? 'no' : digits} decimals: write it as ${priceFromAmount(1999, currency)}`)
  return safe(whole + fraction.padEnd(digits, '0')) ?? no('which is too large')
}

function safe (digits: string): number | undefined {
  const amount = Number(digits)
  return Number.isSafeInteger(amount) ? amount : undefined
}
