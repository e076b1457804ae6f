import { datesOf, isDateOfSpreadsheet, isSameDay } from './retyped-dates.ts'

/** What a spreadsheet took a text for. */
export type Retyping = 'a number' | 'a date' | 'a time' | 'true or false' | 'a formula'

/** Longer texts are no numbers or dates, in characters. */
const LONGEST = 60

/**
 * A spreadsheet takes texts for numbers, dates, times and truth values, and writes them its own way: `00123` as `123`,
 * `3-12` as `12-Mar`. A text in another spelling of its own, such as `00123` for `123`, is none that a spreadsheet
 * writes.
 *
 * @param before - a text
 * @param now - another one
 * @returns what a spreadsheet took the first for if it has made the second of it; undefined if it has not
 */
export function retyped (before: string, now: string): Retyping | undefined {
  if (ERROR.test(now)) return 'a formula'
  if (Math.max(before.length, now.length) > LONGEST) return undefined
  if (isNumberFrom(before, now)) return 'a number'
  if (isTimeFrom(before, now)) return 'a time'
  if (
    TRUTHS.some((words) =>
      words.includes(now.toLowerCase()) && now === now.toUpperCase() && words.includes(before.toLowerCase())
    )
  ) return 'true or false'
  return isDateOfSpreadsheet(now) && datesOf(before).some((day) => datesOf(now).some((other) => isSameDay(day, other)))
    ? 'a date'
    : undefined
}

/** What people do about it. */
export const REMEDY = 'Format the column as text and enter it again'

/** Whether a text is in a form that only spreadsheets write: `4.00638E+12`, `12-Mar`. */
export function looksRetyped (text: string): boolean {
  return ERROR.test(text) || SCIENTIFIC.test(text) ||
    (text.length <= LONGEST && isDateOfSpreadsheet(text) && datesOf(text).length > 0)
}

/** A formula that fails, in any language, and a number in too narrow a column. */
const ERROR = /^#(?:[¡¿]?\p{Lu}[\p{Lu}\d/ ]*[!?]|N\/A|#+)$/u

/** True and false in the languages of spreadsheets. */
const TRUTHS = [
  [
    'true',
    'wahr',
    'vrai',
    'verdadero',
    'verdadeiro',
    'vero',
    'waar',
    'prawda',
    'sant',
    'sand',
    'tosi',
    'pravda',
    'igaz',
    'adevărat',
    'doğru',
    'истина',
    'αληθησ'
  ],
  [
    'false',
    'falsch',
    'faux',
    'falso',
    'onwaar',
    'fałsz',
    'falskt',
    'falsk',
    'usann',
    'epätosi',
    'nepravda',
    'hamis',
    'fals',
    'yanlış',
    'ложь',
    'ψευδησ'
  ]
]

/** A decimal number: its digits without zeros at either end, and the power of ten of the last one. */
interface Decimal {
  readonly sign: string
  readonly digits: string
  readonly exponent: number
}

function decimal (sign: string, whole: string, fraction: string, exponent: number): Decimal {
  const digits = (whole + fraction).replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end--
  if (end === 0) return { sign: '', digits: '', exponent: 0 }
  return {
    sign: sign === '-' ? '-' : '',
    digits: digits.slice(0, end),
    exponent: exponent - fraction.length + digits.length - end
  }
}

const PLAIN = /^([-+]?)(\d+)(?:[.,](\d+))?(?:E([-+]?\d{1,3}))?$/i
const GROUPED = /^([-+]?)(\d{1,3}([.,'’ ])(?:\d{2,3}\3)*\d{3})(?:[.,](\d+))?$/
const ACCOUNTED = /^\((\d+(?:[.,]\d+)?)\)$/

/** @returns the numbers that a text may be: `1,234` is two */
function numbersOf (text: string): readonly Decimal[] {
  const [, accounted] = ACCOUNTED.exec(text) ?? []
  if (accounted !== undefined) return numbersOf(`-${accounted}`)
  const [, sign = '', whole, fraction = '', exponent = '0'] = PLAIN.exec(text) ?? []
  const [, groupSign = '', grouped, , decimals = ''] = GROUPED.exec(text.replace(/\s/g, ' ')) ?? []
  return [
    ...whole === undefined ? [] : [decimal(sign, whole, fraction, Number(exponent))],
    ...grouped === undefined ? [] : [decimal(groupSign, grouped.replace(/\D/g, ''), decimals, 0)]
  ]
}

/**
 * A number as spreadsheets write it: without zeros at its ends, but for decimals that are all zeros, or with an
 * exponent.
 */
const WRITTEN = /^-?(?:0|[1-9]\d*)(?:[.,](?:0+|\d*[1-9]))?$/
const SCIENTIFIC = /^-?(\d(?:[.,]\d+)?)E[-+]\d{2,3}$/i

/**
 * A whole number of which only the first digits are left: a spreadsheet keeps fifteen, and shows six of twelve and
 * more.
 */
const ROUNDED = /^-?(?=\d{12})\d+0{5}$|^-?\d{15}\d*0$/

function isNumberFrom (before: string, now: string): boolean {
  const [, mantissa] = SCIENTIFIC.exec(now) ?? []
  if (mantissa === undefined && !WRITTEN.test(now) && !GROUPED.test(now)) return false
  const [olds, news] = [numbersOf(before), numbersOf(now)]
  const rounded = ROUNDED.test(now) ? news[0]?.digits.length : undefined
  const places = mantissa === undefined ? rounded : mantissa.replace(/\D/g, '').length
  return olds.some((old) =>
    news.some((one) =>
      isSame(old, one) || (places !== undefined && roundings(old, places).some((rounding) => isSame(rounding, one)))
    )
  )
}

function isSame (one: Decimal, other: Decimal): boolean {
  return one.sign === other.sign && one.digits === other.digits && one.exponent === other.exponent
}

/** A number of so many digits that is nearest, and the one that is nearest to zero. */
function roundings ({ sign, digits, exponent }: Decimal, places: number): readonly Decimal[] {
  if (digits.length <= places) return []
  const first = BigInt(digits.slice(0, places))
  return [first, first + 1n].filter((_, isUp) => isUp === 0 || digits[places]! >= '5').map((rounded) =>
    decimal(sign, String(rounded), '', exponent + digits.length - places)
  )
}

const TIME = /^(\d{1,4}):(\d{1,2})(?::(\d{1,2}))?(?: ?([AP])M)?$/i
const WRITTEN_TIME = /^\d{1,4}:\d\d(?::\d\d)?(?: ?[AP]M)?$/i

function isTimeFrom (before: string, now: string): boolean {
  const seconds = secondsOf(before)
  return seconds !== undefined && WRITTEN_TIME.test(now) && secondsOf(now) === seconds
}

function secondsOf (text: string): number | undefined {
  const [, hours, minutes, seconds = '0', half] = TIME.exec(text) ?? []
  if (hours === undefined) return undefined
  const hour = half === undefined ? Number(hours) : Number(hours) % 12 + (half.toUpperCase() === 'P' ? 12 : 0)
  return (hour * 60 + Number(minutes)) * 60 + Number(seconds)
}
