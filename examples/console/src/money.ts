/** Amounts are integers in minor units of their currency: 1999 is 19.99 EUR, and 1999 JPY. */

/** @returns how many digits a currency has behind its decimal separator */
export function digitsOf (currency: string): number {
  return numberFormat('en', { style: 'currency', currency })?.resolvedOptions().maximumFractionDigits ?? 2
}

/** Whether a code has the form of ISO 4217. */
export function isCurrency (code: string): boolean {
  return /^[A-Z]{3}$/.test(code)
}

/** `1999` in EUR and `de` is `19,99 €`. */
export function moneyText (amount: number, currency: string, locale: string): string {
  const format = numberFormat(locale, { style: 'currency', currency }) ?? numberFormat('en', { style: 'currency', currency })
  return format?.format(decimalOf(amount, digitsOf(currency)) as never) ?? `${amount} ${currency}`
}

/** The amount as people type it: `1999` in EUR is `19.99`, in `de` `19,99`. */
export function amountText (amount: number | null | undefined, currency: string, locale: string): string {
  if (amount === null || amount === undefined) return ''
  const digits = digitsOf(currency)
  const format = numberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false }) ?? numberFormat('en', { minimumFractionDigits: digits, useGrouping: false })
  return format!.format(decimalOf(amount, digits) as never)
}

/**
 * Reads what people type: `19.99`, `19,99`, `1'999.50`, `1.999,50`.
 *
 * @returns the amount; null for an empty text; undefined if it is no amount of that currency
 */
export function amountFrom (text: string, currency: string): number | null | undefined {
  const plain = text.trim().replace(/[\s'’\u00a0\u202f]/g, '')
  if (plain === '') return null
  if (!/^\d[\d.,]*$/.test(plain)) return undefined
  const digits = digitsOf(currency)
  const [whole, fraction] = partsOf(plain, digits)
  if (!/^\d+$/.test(whole) || !/^\d*$/.test(fraction) || fraction.length > digits) return undefined
  const amount = Number(whole + fraction.padEnd(digits, '0'))
  return Number.isSafeInteger(amount) ? amount : undefined
}

/**
 * The same digits in another currency: 1999 JPY is 199900 USD, which is 1999.00.
 *
 * @returns undefined if the other currency has fewer decimals than the amount
 */
export function inCurrency (amount: number | null, from: string, to: string): number | null | undefined {
  if (amount === null) return null
  const more = digitsOf(to) - digitsOf(from)
  const moved = more >= 0 ? amount * 10 ** more : amount / 10 ** -more
  return Number.isSafeInteger(moved) ? moved : undefined
}

/** The last separator is the decimal one, unless there is only one kind and what follows reads as thousands. */
function partsOf (text: string, digits: number): readonly [whole: string, fraction: string] {
  const last = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','))
  if (last === -1) return [text, '']
  const separator = text[last]!
  const other = separator === '.' ? ',' : '.'
  const isGrouping = !text.includes(other) && /^\d{1,3}(?:[.,]\d{3})+$/.test(text) && digits < 3
  if (isGrouping) return [text.replaceAll(separator, ''), '']
  const whole = text.slice(0, last)
  // 1.999,50 has groups of three before the decimal separator; 1.99.9 is nothing.
  if (/[.,]/.test(whole) && !new RegExp(`^\\d{1,3}(?:\\${other}\\d{3})+$`).test(whole)) return ['', 'x']
  return [whole.replaceAll(other, ''), text.slice(last + 1)]
}

/** As a decimal string, since a float would round large amounts. */
function decimalOf (amount: number, digits: number): string {
  const sign = amount < 0 ? '-' : ''
  const text = String(Math.abs(amount)).padStart(digits + 1, '0')
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** @returns undefined for a locale or currency that the browser does not know */
function numberFormat (locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat | undefined {
  try {
    return new Intl.NumberFormat(locale, options)
  } catch {
    return undefined
  }
}
