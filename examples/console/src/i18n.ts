import type { I18nProvider } from 'react-admin'
import english from 'ra-language-english'
import { language } from './language.ts'
import { texts } from './texts.ts'
import { translation } from './translation.ts'

const PHRASES: object = { ra: translation?.phrases ?? english.ra, resources: texts.names }

type Options = { readonly _?: string, readonly smart_count?: number } & Readonly<Record<string, unknown>>

/**
 * react-admin's own texts, and the names of our resources and their fields. In the language of the page, which takes
 * none of what node-polyglot brings along.
 */
export const i18nProvider: I18nProvider = {
  /**
   * A phrase by its path, or the text itself: `%{name}` is filled in, and of `one |||| many` the form for `smart_count`
   * is taken.
   */
  translate: (key: string, options: Options = {}) => {
    const found = key.split('.').reduce<unknown>(
      (part, name) => typeof part === 'object' ? (part as Readonly<Record<string, unknown>> | null)?.[name] : undefined,
      PHRASES
    )
    const phrase = typeof found === 'string' ? found : options._ ?? key
    const forms = phrase.split('||||')
    const form = options.smart_count === undefined || options.smart_count === 1 ? forms[0]! : forms.at(-1)!
    return (forms.length === 1 || options.smart_count === undefined ? phrase : form.trim()).replace(
      /%\{(\w+)\}/g,
      (written, name: string) => String(options[name] ?? written)
    )
  },
  changeLocale: async () => {},
  getLocale: () => language
}
