/** The languages of the console, each by its own name. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

/** The language that somebody has chosen in this browser. */
const CHOSEN = 'shop-console.language'

/** The language that the console speaks: known before the application is loaded. */
export let language: Language = 'en'

/** From now on, `language` is this. */
export function setLanguage (spoken: Language): void {
  language = spoken
}

/**
 * @param chosen - by the person
 * @param wanted - by the browser, the best first: `de-CH`, `fr`
 * @returns the first of them that there is, else English
 */
export function languageFrom (chosen: string | null, wanted: readonly string[]): Language {
  const codes = [chosen, ...wanted].map((tag) => tag?.toLowerCase().split('-')[0])
  return codes.find((code): code is Language => code !== undefined && Object.hasOwn(LANGUAGES, code)) ?? 'en'
}

/** The language of the person who uses this browser. */
export function preferredLanguage (): Language {
  return languageFrom(localStorage.getItem(CHOSEN), navigator.languages)
}

/** Loads the page again in another language, and starts with it from now on. */
export function changeLanguage (chosen: Language): void {
  localStorage.setItem(CHOSEN, chosen)
  location.reload()
}
