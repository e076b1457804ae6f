import { type SettingsBy, settingsByTables } from '#shared/option-table'

/** The fake provider needs nothing of the package, its errors neither. @throws TypeError */
export const settingsBy: SettingsBy = settingsByTables((option, rule) => new TypeError(`${option} ${rule}`))
