import { type Language, language } from './language.ts'

/** How a shop writes times: its locale and zone. */
export interface Manner {
  readonly locale: string
  readonly timeZone: string
}

/** How a date and time are written, with their zone. */
const EXACT = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short'
} as const

/** A date and time: `23 Nov 2026, 14:05 CET`. */
export function timeText (at: string | number, { locale, timeZone }: Manner): string {
  return format(locale, timeZone, EXACT).format(new Date(at))
}

/** With seconds, for what happens within one. */
export function exactTimeText (at: string | number, { locale, timeZone }: Manner): string {
  return format(locale, timeZone, { ...EXACT, second: '2-digit' }).format(new Date(at))
}

/** From one time to another, with seconds: once if both are in the same second, the day once if it is the same. */
export function exactRangeText (start: string, end: string, { locale, timeZone }: Manner): string {
  return format(locale, timeZone, { ...EXACT, second: '2-digit' }).formatRange(new Date(start), new Date(end))
}

/** A date: `23 Nov 2026`. */
export function dateText (at: string | number, { locale, timeZone }: Manner): string {
  return format(locale, timeZone, { dateStyle: 'medium' }).format(new Date(at))
}

/**
 * The language of the page in the manner of the shop's region, for months and units: on English pages, `de-CH` is
 * `en-CH`.
 */
export function inLanguage (locale: string, spoken: Language = language): string {
  const { region } = new Intl.Locale(tolerant((name) => new Intl.Locale(name).maximize().toString(), locale))
  return region === undefined ? spoken : `${spoken}-${region}`
}

/**
 * How money and numbers are written and read. English is the language of people from everywhere: to them, these are as
 * the shop's locale has them. On pages in another language, they are as in that language: 1.999 is one number there.
 */
export function numberLocale (locale: string, spoken: Language = language): string {
  return spoken === 'en' ? locale : inLanguage(locale, spoken)
}

/** A count among words, grouped as in the shop's region, with the digits of the rest of the sentence. */
export function countText (count: number, locale: string, options: Intl.NumberFormatOptions = {}): string {
  return count.toLocaleString(inLanguage(locale), options)
}

/** A change in percent, with its sign: `+5`, `-33.3`. More digits keep it off -100 and 0 if it is near them. */
export function riseText (percent: number, locale: string): string {
  const isNear = percent !== 0 && percent !== -100 && [0, -100].includes(Number(percent.toFixed(1)))
  return countText(percent, locale, { signDisplay: 'exceptZero', maximumFractionDigits: isNear ? 2 : 1 })
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
] as const

/** From now: `5 minutes ago`, `in 3 days`. */
export function agoText (at: string | number, { locale }: Pick<Manner, 'locale'>, now = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1000)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1] as const
  return new Intl.RelativeTimeFormat(inLanguage(locale), { numeric: 'auto' }).format(Math.trunc(seconds / size), unit)
}

function format (locale: string, timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return tolerant(
    (zone) => new Intl.DateTimeFormat(inLanguage(locale), { ...options, timeZone: zone }),
    timeZone,
    'UTC'
  )
}

/** The server accepts locales and zones that this browser may not know. */
function tolerant<Format> (make: (name: string) => Format, name: string, otherwise = 'en'): Format {
  try {
    return make(name)
  } catch {
    return make(otherwise)
  }
}
