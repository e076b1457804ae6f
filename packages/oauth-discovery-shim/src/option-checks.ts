import { type Rule, settingsByTables, type SettingsBy } from '#shared/option-table'
import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from './errors.ts'

/** @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} that names the option, its rule and the value */
export const settingsBy: SettingsBy = settingsByTables((option, rule) =>
  new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(`${option} ${rule}`)
)

/** For what relates options to each other. @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} */
export function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(message)
}

export const CLIENT_ID: Rule = {
  holds: (id) => typeof id === 'string' && /^[\x21-\x7e]{1,500}$/.test(id),
  rule: 'must be 1 to 500 characters of printable ASCII'
}
