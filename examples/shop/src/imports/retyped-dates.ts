/** A date, or what a text says of one. */
interface Day {
  readonly day?: number
  readonly month: number
  readonly year?: number
}

/** In which order the parts of a date may come. */
const ORDERS: Readonly<Record<number, ReadonlyArray<ReadonlyArray<keyof Day>>>> = {
  2: [['month', 'day'], ['day', 'month'], ['month', 'year'], ['year', 'month']],
  3: [['day', 'month', 'year'], ['month', 'day', 'year'], ['year', 'month', 'day']]
}

/** @returns every date that a text may be, in the order of any country and the months of any language */
export function datesOf (text: string): readonly Day[] {
  const serial = serialDay(text)
  if (serial !== undefined) return [serial]
  const parts = partsOf(text.replace(JOINED, '$1$3-$2$4'))
  return (ORDERS[parts.length] ?? []).flatMap((order) =>
    order.reduce<readonly Day[]>((days, name, at) => {
      const values = valuesOf(parts[at]!, name)
      return days.flatMap((day) => values.map((value) => ({ ...day, [name]: value })))
    }, [{ month: 0 }])
  )
}

/** Whether they agree: a year may be missing, or have two digits. */
export function isSameDay (one: Day, other: Day): boolean {
  const agree = (name: 'day' | 'year'): boolean | undefined => {
    const [a, b] = [one[name], other[name]]
    if (a === undefined || b === undefined) return undefined
    return Math.min(a, b) < 100 ? a % 100 === b % 100 : a === b
  }
  const agreements = [agree('day'), agree('year')]
  return one.month === other.month && agreements.includes(true) && !agreements.includes(false)
}

/**
 * Whether spreadsheets write a date like this: with the name of its month, or whole, or as the number of days since
 * 1900.
 */
export function isDateOfSpreadsheet (text: string): boolean {
  if (serialDay(text) !== undefined) return true
  const parts = partsOf(text)
  if (text.includes('月') || parts.some((part) => !/\d/.test(part))) return true
  const [first = '', second = '', third = ''] = parts
  if (parts.length !== 3) return false
  if (first.length === 4) return second.length === 2 && third.length === 2
  return third.length === 4 || (third.length === 2 && /[/.]/.test(text))
}

/** The parts of a date, in lower case and without accents and midnight. */
function partsOf (text: string): readonly string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(
    /[ t]0?0:00(?::00(?:\.0+)?)?z?$/,
    ''
  )
  return plain.split(/[-/.,\s年月日]+/u).filter((part) => part !== '')
}

/** `MAR1` and `1MAR`, which spreadsheets read as dates and write as `1-Mar`. */
const JOINED = /^(\p{L}{3,})(\d{1,4})$|^(\d{1,4})(\p{L}{3,})$/u

/** @returns what a part of a date may be as a day, a month or a year */
function valuesOf (part: string, name: keyof Day): readonly number[] {
  if (!/^\d+$/.test(part)) return name === 'month' ? [...(monthsByName().get(part) ?? [])] : []
  const value = Number(part)
  if (name === 'year') return part.length <= 2 || part.length === 4 ? [value] : []
  return part.length <= 2 && value >= 1 && value <= (name === 'day' ? 31 : 12) ? [value] : []
}

/** Days since 1900 from 1954 to 2118: what is left of a date once its column is formatted as text. */
const SERIAL = /^[2-7]\d{4}$/

function serialDay (text: string): Day | undefined {
  if (!SERIAL.test(text)) return undefined
  const date = new Date(Date.UTC(1899, 11, 30 + Number(text)))
  return { day: date.getUTCDate(), month: date.getUTCMonth() + 1, year: date.getUTCFullYear() }
}

const LANGUAGES = [
  'bg',
  'ca',
  'cs',
  'da',
  'de',
  'el',
  'en',
  'es',
  'et',
  'fi',
  'fr',
  'hr',
  'hu',
  'it',
  'lt',
  'lv',
  'nb',
  'nl',
  'pl',
  'pt',
  'ro',
  'ru',
  'sk',
  'sl',
  'sv',
  'tr',
  'uk'
]

/** What `Intl` writes in another way than spreadsheets. */
const OTHERS: ReadonlyArray<readonly [name: string, month: number]> = [['mrz', 3], ['sept', 9]]

let months: Map<string, Set<number>> | undefined

/**
 * Months by their names and the beginnings of them, in lower case and without accents: one may mean several, as `jui`.
 */
function monthsByName (): ReadonlyMap<string, ReadonlySet<number>> {
  if (months !== undefined) return months
  const found = months = new Map<string, Set<number>>()
  const add = (name: string, month: number): void => {
    found.set(name, (found.get(name) ?? new Set()).add(month))
  }
  for (const language of LANGUAGES) {
    for (const style of ['short', 'long'] as const) {
      const format = new Intl.DateTimeFormat(language, { month: style, day: 'numeric', timeZone: 'UTC' })
      for (let month = 1; month <= 12; month++) {
        const name = format.formatToParts(Date.UTC(2026, month - 1, 1)).find(({ type }) => type === 'month')!.value
          .normalize('NFKD').replace(/\p{M}|\.$/gu, '').toLowerCase()
        for (let length = Math.min(3, name.length); length <= name.length; length++) add(name.slice(0, length), month)
      }
    }
  }
  for (const [name, month] of OTHERS) add(name, month)
  return found
}
