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
  const format = numberFormat(locale, { style: 'currency', currency }) ??
    numberFormat('en', { style: 'currency', currency })
  return format?.format(decimalOf(amount, digitsOf(currency)) as never) ?? `${amount} ${currency}`
}

/**
 * `12.345 KWD`, as the server says the prices of a file, in `de`: `12,345 KWD`. There, a point would group thousands.
 */
export function priceText (price: string, locale: string): string {
  const [decimal = '', currency = ''] = price.split(' ')
  return moneyText(Number(decimal.replace('.', '')), currency, locale)
}

/** The amount as people type it: `1999` in EUR is `19.99`, in `de` `19,99`. */
export function amountText (amount: number | null | undefined, currency: string, locale: string): string {
  if (amount === null || amount === undefined) return ''
  const digits = digitsOf(currency)
  const format =
    numberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false }) ??
      numberFormat('en', { minimumFractionDigits: digits, useGrouping: false })
  return format!.format(decimalOf(amount, digits) as never)
}

/**
 * Reads what people type, and what the console shows in that locale: `19.99`, `19,99`, `1’999.50`, `١٬٩٩٩٫٥٠ ج.م.`.
 *
 * @returns the amount; null for an empty text; undefined if it is no amount of that currency
 */
export function amountFrom (text: string, currency: string, locale: string): number | null | undefined {
  if (text.trim() === '') return null
  const format =
    numberFormat(locale, { style: 'currency', currency, minimumFractionDigits: 1, maximumFractionDigits: 1 }) ??
      numberFormat('en', {})!
  const sign = plainText(format.formatToParts(1).find(({ type }) => type === 'currency')?.value ?? '')
  const decimal = decimalIn(withoutEnds(plainText(text), [sign, currency]), format)
  if (decimal === undefined || decimal.startsWith('-')) return undefined
  const digits = digitsOf(currency)
  const [whole = '', fraction = ''] = decimal.split('.')
  if (fraction.length > digits) return undefined
  const amount = Number(whole + fraction.padEnd(digits, '0'))
  return Number.isSafeInteger(amount) ? amount : undefined
}

/** Reads a number as people write it in a locale. @returns undefined if it is none */
export function numberFrom (text: string, locale: string): number | undefined {
  const decimal = decimalIn(plainText(text), numberFormat(locale, {}) ?? numberFormat('en', {})!)
  const number = Number(decimal)
  return decimal === undefined || !Number.isFinite(number) ? undefined : number
}

/**
 * Reads a whole number as people write it in a locale.
 *
 * @returns undefined if it is none, or has decimals: somebody else's 1.000 is a thousand
 */
export function wholeNumberFrom (text: string, locale: string): number | undefined {
  const decimal = decimalIn(plainText(text), numberFormat(locale, {}) ?? numberFormat('en', {})!) ?? ''
  return /^-?\d{1,15}$/.test(decimal) ? Number(decimal) : undefined
}

/** A number as people type it in a locale. */
export function numberText (number: number, locale: string): string {
  return (numberFormat(locale, { useGrouping: false, maximumFractionDigits: 20 }) ?? numberFormat('en', {})!).format(
    String(number) as never
  )
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

/** Signs that stand before decimals somewhere, and those that only group digits. */
const POINTS = '.,٫'
const SIGNS = `${POINTS}' ٬`

/**
 * @param text - a {@link plainText}
 * @param format - whose separators are meant where others could be
 * @returns `1234.5`; undefined if it is no number, or could be another one
 */
function decimalIn (text: string, format: Intl.NumberFormat): string | undefined {
  const sign = (type: string): string =>
    plainText(format.formatToParts(-1234567.8).find((part) => part.type === type)?.value ?? '', false)
  const [group, point] = [sign('group'), sign('decimal')]
  const minus = /^[-−]/.test(text) ? '-' : ''
  const number = text.slice(minus.length)
  const last = [...number].findLastIndex((character) => !/\d/.test(character))
  const separator = [...number][last] ?? ''
  if (
    !/^\d/.test(number) ||
    [...number].some((character) =>
      !/\d/.test(character) && !SIGNS.includes(character) && character !== group && character !== point
    )
  ) return undefined
  const isPoint = POINTS.includes(separator) || separator === point
  const grouped = isPoint && separator !== group && separator !== '' ? undefined : ungrouped(number)
  if (grouped !== undefined) return minus + grouped
  const before = number.slice(0, last)
  const whole = before.includes(separator) || !isPoint ? undefined : ungrouped(before)
  return whole === undefined ? undefined : `${minus}${whole}.${number.slice(last + 1)}`
}

/**
 * Digits without what groups them: by three, or in India by two above the last three.
 *
 * @returns undefined if they are grouped otherwise
 */
function ungrouped (text: string): string | undefined {
  const [separator, ...others] = new Set(text.replace(/\d/g, ''))
  if (separator === undefined) return text
  const [first = '', ...groups] = text.split(separator)
  const last = groups.pop()
  const isGrouped = others.length === 0 && last?.length === 3 && /^[1-9]\d{0,2}$/.test(first) &&
    [2, 3].some((size) => groups.every(({ length }) => length === size))
  return isGrouped ? [first, ...groups, last].join('') : undefined
}

/** With Western digits, plain blanks and apostrophes, and without marks of direction. */
function plainText (text: string, isTrimmed = true): string {
  const plain = text.normalize('NFKC').replace(/\p{Bidi_Control}/gu, '').replace(/\s/g, ' ').replace(/[’`]/g, "'")
    .replace(/\p{Nd}/gu, digitOf)
  return isTrimmed ? plain.trim() : plain
}

/** Digits of a script follow each other, from zero on. */
function digitOf (character: string): string {
  const code = character.codePointAt(0)!
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String((code - zero) % 10)
}

/** The text without one of the words at its start or end. */
function withoutEnds (text: string, words: readonly string[]): string {
  for (const word of words.filter((word) => word !== '')) {
    if (text.startsWith(word)) return text.slice(word.length).trim()
    if (text.endsWith(word)) return text.slice(0, -word.length).trim()
  }
  return text
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
