import type { TranslationMessages } from 'react-admin'
import { loaded } from './loaded.ts'
import { type Language, setLanguage } from './language.ts'
import { speak, type Texts } from './texts.ts'

/** A language besides English, which is there without one. */
export interface Translation {
  readonly texts: Texts
  /** What react-admin says by itself. */
  readonly phrases: TranslationMessages['ra']
  /** What components of MUI say by themselves, as a theme has it. */
  readonly components: Readonly<Record<string, { readonly defaultProps: object }>>
}

const TRANSLATIONS: Readonly<Record<Language, (() => Promise<{ readonly translation: Translation }>) | undefined>> = {
  en: undefined,
  de: async () => await import('./german/index.ts')
}

/** What libraries say, unless it is English. */
export let translation: Pick<Translation, 'phrases' | 'components'> | undefined

/**
 * Loads what the console says in a language. Before the application: its modules may read texts when they are loaded.
 * Without a connection, English remains.
 */
export async function speakIn (language: Language): Promise<void> {
  const load = TRANSLATIONS[language]
  if (load === undefined) return
  try {
    const { texts, ...others } = (await loaded(load)).translation
    speak(texts)
    translation = others
    setLanguage(language)
  } catch {}
}
