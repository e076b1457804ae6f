import { deDE } from '@mui/material/locale'
import type { Translation } from '../translation.ts'
import { PHRASES } from './phrases.ts'
import { german } from './texts.ts'

/** The console in German. Loaded by those who want it. */
export const translation: Translation = {
  texts: german,
  phrases: PHRASES,
  components: {
    ...deDE.components as Translation['components'],
    MuiPagination: { defaultProps: { ...deDE.components?.MuiPagination?.defaultProps, 'aria-label': 'Seiten' } },
    MuiChartsLocalizationProvider: {
      defaultProps: { localeText: { loading: 'Lädt…', noData: 'Keine Daten', a11yNoValue: 'kein Wert' } }
    }
  }
}
