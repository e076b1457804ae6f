import { language } from '../language.ts'
import type { Choice } from './filter-chips.tsx'

/** Languages in which prices, numbers and dates are written differently. */
const LOCALES =
  'ar-AE ar-EG ar-KW ar-SA bg-BG bn-BD ca-ES cs-CZ da-DK de-AT de-CH de-DE el-GR en-AU en-CA en-GB en-IE en-IN ' +
  'en-NZ en-US en-ZA es-AR es-CL es-CO es-ES es-MX et-EE fa-IR fi-FI fr-BE fr-CA fr-CH fr-FR he-IL hi-IN hr-HR ' +
  'hu-HU id-ID is-IS it-CH it-IT ja-JP ko-KR lt-LT lv-LV ms-MY nb-NO nl-BE nl-NL pl-PL pt-BR pt-PT ro-RO ru-RU ' +
  'sk-SK sl-SI sr-RS sv-SE th-TH tr-TR uk-UA vi-VN zh-CN zh-HK zh-TW'

const named = (codes: readonly string[], nameOf: (code: string) => string | undefined): readonly Choice[] =>
  codes.map((id) => ({ id, name: nameOf(id) ?? id }))
const once = <Value>(make: () => Value) => {
  let made: Value | undefined
  return () => (made ??= make())
}

/** The currencies that the browser knows, by their codes and names. */
export const currencies = once(() => {
  const names = new Intl.DisplayNames(language, { type: 'currency' })
  return named(Intl.supportedValuesOf('currency'), (code) => names.of(code))
})

/** Locales of many countries; others can be typed. */
export const locales = once(() => {
  const names = new Intl.DisplayNames(language, { type: 'language' })
  return named(LOCALES.split(' '), (code) => names.of(code))
})

/** Time zones, with how far they are from UTC today. */
export const timeZones = once(() =>
  named(
    ['UTC', ...Intl.supportedValuesOf('timeZone')].filter((zone, index, all) => all.indexOf(zone) === index),
    offsetOf
  )
)

function offsetOf (timeZone: string): string | undefined {
  return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' }).formatToParts().find(({ type }) =>
    type === 'timeZoneName'
  )?.value
}
