import { type SettingsBy, settingsByTables } from '#shared/option-table'
import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} that names the option, its rule and the value */
export const settingsBy: SettingsBy = settingsByTables((option, rule) =>
  new PAY_RECONCILE_INVALID_OPTION(`${option} ${rule}`)
)

/** For what relates options to each other. @throws {@link PAY_RECONCILE_INVALID_OPTION} */
export function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new PAY_RECONCILE_INVALID_OPTION(message)
}
