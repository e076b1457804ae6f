import { fileURLToPath } from 'node:url'
import { MCP_FROM_ROUTES_INVALID_OPTION } from './errors.ts'
import { isObject } from './schema/json-schema.ts'

/** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} */
export function check (holds: boolean, option: string, rule: string): asserts holds {
  if (!holds) throw new MCP_FROM_ROUTES_INVALID_OPTION(option, rule)
}

/**
 * Checks that options are an object that has no others than these.
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}
 */
export function checkKeys (options: unknown, name: string, known: readonly string[]): void {
  check(isObject(options), name, `takes an object with ${known.join(', ')}`)
  const unknown = Object.keys(options as object).find((key) => !known.includes(key))
  check(unknown === undefined, `${name}.${unknown}`, `is not an option. ${name} takes ${known.join(', ')}`)
}

export function isFilled (value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

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
