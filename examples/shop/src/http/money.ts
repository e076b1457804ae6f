import { invalid } from '../errors.ts'

/**
 * Amounts are integers in minor units of their currency: 1999 is 19.99 EUR, and 1999 JPY. Prices are what people write.
 */

/** By currency, which are a few hundred: to ask `Intl` takes longer than all else that a line of a file needs. */
const DIGITS = new Map<string, number>()

/** @returns how many digits a currency has behind its decimal point: 2 in EUR, 0 in JPY, 3 in KWD */
export function digitsOf (currency: string): number {
  const known = DIGITS.get(currency)
  if (known !== undefined) return known
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits!
  DIGITS.set(currency, digits)
  return digits
}

/** @returns a price without the code or the sign of its currency, before or behind it: `$9.90`, `9,90 €` */
function withoutSign (price: string, currency: string): string {
  for (const sign of [currency, signOf(currency, 'symbol'), signOf(currency, 'narrowSymbol')]) {
    if (price.startsWith(sign)) return price.slice(sign.length).trim()
    if (price.endsWith(sign)) return price.slice(0, -sign.length).trim()
  }
  return price
}

/** In the English of no country, dollars are those of one: US$. */
function signOf (currency: string, currencyDisplay: 'symbol' | 'narrowSymbol'): string {
  return new Intl.NumberFormat('en-001', { style: 'currency', currency, currencyDisplay }).formatToParts(0)
    .find(({ type }) => type === 'currency')!.value
}

/** `1999` in EUR is `19.99`; exact, since it is never a float. */
export function priceFromAmount (amount: number, currency: string): string {
  const digits = digitsOf(currency)
  const text = String(amount).padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/**
 * Digits, maybe with decimals behind a point or comma; or with thousands that blanks, an apostrophe or the other of the
 * two group.
 */
const AMOUNT = /^(\d{1,16}|[1-9]\d{0,2}([.,'’ ])\d{3}(?:\2\d{3})*)(?:([.,])(\d{1,10}))?$/

/**
 * Reads a price in major units of its currency: `19.99`, `19,99`, `1.999,50`.
 *
 * @param price - a number has no separators of thousands: 1.999 is never 1999
 * @throws {@link SHOP_INVALID} about `price`, if it is no amount of that currency, or could be one of two
 */
export function amountFromPrice (price: string | number, currency: string): number {
  const digits = digitsOf(currency)
  const form = priceFromAmount(1999, currency)
  const no = (why: string): never => {
    throw invalid('price', `price is ${JSON.stringify(typeof price === 'number' ? price : price.slice(0, 30))}, ${why}`)
  }
  const written = String(price).trim().replace(/\s/g, ' ')
  // Most prices have none, and to ask for it takes longer than all else.
  const bare = /^[\d.,'’ ]*$/.test(written) ? written : withoutSign(written, currency)
  const [, whole, group, point, fraction = ''] = AMOUNT.exec(bare) ?? []
  if (whole === undefined || (group !== undefined && group === point)) {
    return no(`not an amount in ${currency}: write it as ${form}`)
  }
  // 1,999 with three digits may be nearly two, or nearly two thousand; 0,999 and 1234,567 are no thousands.
  const mayGroup = typeof price === 'string' && fraction.length === 3 && /^[1-9]\d{0,2}$/.test(whole)
  if (mayGroup && digits === 0) return safe(whole + fraction) ?? no('which is too large')
  if (mayGroup && (digits !== 3 || point === ',')) {
    return no(
      `which may be ${whole}.${fraction} or ${whole}${fraction}: write it without separators of thousands, as ${form}`
    )
  }
  const decimals = withoutPadding(fraction, digits)
  if (decimals.length > digits) {
    return no(`and ${currency} has ${digits === 0 ? 'no' : digits} decimals: write it as ${form}`)
  }
  return safe(whole.replace(/\D/g, '') + decimals.padEnd(digits, '0')) ?? no('which is too large')
}

/** A decimal number that cannot have separators of thousands. */
const DECIMALS = /^(\d{1,16})[.,](\d{4,10})$/

/**
 * @returns a price with more decimals than three, rounded half up to those of its currency: 16.5175 is 16.52 EUR.
 *   Undefined for any other text, and where only zeros are left out
 */
export function roundedPrice (price: string, currency: string): string | undefined {
  const [, whole, fraction = ''] = DECIMALS.exec(price.trim()) ?? []
  const digits = digitsOf(currency)
  if (whole === undefined || /^0*$/.test(fraction.slice(digits))) return undefined
  const cut = Number(whole + fraction.slice(0, digits))
  const amount = Number(fraction[digits]) < 5 ? cut : cut + 1
  return Number.isSafeInteger(amount) ? priceFromAmount(amount, currency) : undefined
}

/**
 * Other systems write zeros behind the decimals of a currency, as `9.990000` or, in JPY, `1500.00`. Three digits may be
 * thousands.
 */
function withoutPadding (fraction: string, digits: number): string {
  const mayPad = fraction.length > 3 || fraction === '00'
  return mayPad && /^0+$/.test(fraction.slice(digits)) ? fraction.slice(0, digits) : fraction
}

function safe (digits: string): number | undefined {
  const amount = Number(digits)
  return Number.isSafeInteger(amount) ? amount : undefined
}
