import { type Rule, type SettingsBy, settingsByTables } from '#shared/option-table'
import { DUAL_AUTH_INVALID_OPTION } from './errors.ts'

/** @throws {@link DUAL_AUTH_INVALID_OPTION} that names the option, its rule and the value */
export const settingsBy: SettingsBy = settingsByTables((option, rule) =>
  new DUAL_AUTH_INVALID_OPTION(`${option} ${rule}`)
)

/** For what relates options to each other. @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new DUAL_AUTH_INVALID_OPTION(message)
}

/** An address that signing keys may come from. Whether http is accepted on other machines is up to another option. */
export const WEB_URL: Rule = {
  // `URL` drops white space, as at the end of a file, and no token has such an issuer.
  holds: (url) => isSafeUrl(url, true) && !hasUser(url) && !/\s/.test(url),
  rule: 'must be an https URL without user, password and white space'
}

/**
 * `https`, or `http` on this machine: anybody could have replaced keys that come over anything else.
 *
 * @param http - whether that is accepted
 */
export function isSafeUrl (url: unknown, http = false): url is string {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' ||
    (protocol === 'http:' && (http || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)))
}

/** Whether a URL contains credentials, which `fetch` rejects and a log shows. */
export function hasUser (url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}
