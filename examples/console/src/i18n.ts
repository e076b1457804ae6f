import polyglotI18nProvider from 'ra-i18n-polyglot'
import english from 'ra-language-english'
import { texts } from './texts.ts'

/** Fields are named as they are: react-admin writes `Sort by sKU`. */
const ra = { ...english.ra, sort: { ...english.ra.sort, sort_by: 'Sort by %{field} %{order}' } }

/** react-admin's own texts, and the names of our resources and their fields. */
export const i18nProvider = polyglotI18nProvider(() => ({ ...english, ra, resources: texts.names }), 'en', [{ locale: 'en', name: 'English' }], { allowMissing: true })
