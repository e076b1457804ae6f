import { numberLocale } from '../times.ts'

/** How admins write times: nobody has set a zone for all shops. */
export const MANNER = {
  locale: numberLocale(navigator.language),
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone
}
