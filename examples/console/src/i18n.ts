import polyglotI18nProvider from 'ra-i18n-polyglot'
import english from 'ra-language-english'
import { texts } from './texts.ts'

/** react-admin's own texts, and the names of our resources and their fields. */
export const i18nProvider = polyglotI18nProvider(() => ({ ...english, resources: texts.names }), 'en', [{ locale: 'en', name: 'English' }], { allowMissing: true })
