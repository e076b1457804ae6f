import { fileURLToPath } from 'node:url'
import { filledArrayOf, isFilled, type Rule, type SettingsBy, settingsByTables } from '#shared/option-table'
import { MCP_FROM_ROUTES_INVALID_OPTION } from './errors.ts'

/** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} */
export function check (holds: boolean, option: string, rule: string): asserts holds {
  if (!holds) throw new MCP_FROM_ROUTES_INVALID_OPTION(option, rule)
}

/** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} that names the option, its rule and the value */
export const settingsBy: SettingsBy = settingsByTables((option, rule) =>
  new MCP_FROM_ROUTES_INVALID_OPTION(option, rule)
)

/** The path of another endpoint. */
export const PATH: Rule = { holds: isPath, rule: 'must start with a slash and have no parameters' }

export const TAGS: Rule = filledArrayOf(isFilled, 'tags')

export function isPath (path: unknown): path is string {
  return typeof path === 'string' && /^\/[^?#:*]*$/.test(path)
}

export function withoutSlash (path: string): string {
  return path.length > 1 ? path.replace(/\/$/, '') : path
}

/** Whether a value names a file or a folder: a path, or a URL of `file:`. */
export function isFile (value: unknown): value is string | URL {
  return isFilled(value) || Reflect.get(Object(value), 'protocol') === 'file:'
}

/** The path of a file or a folder. */
export function pathOf (file: string | URL): string {
  return typeof file === 'string' ? file : fileURLToPath(file)
}
