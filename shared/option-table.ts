import { inspect } from 'node:util'
import { nearestBy } from './nearest.ts'

/*
 * Options by tables: each says the rule and the default of an option, and every message names the option, its rule and
 * the value. What relates two options to each other is checked beside its table. Tables in files with public types are
 * `@internal`: no public declaration may import from here.
 *
 * Options come from JavaScript and the environment too, where no compiler checks them.
 */

/** What a value must be, and how a message says it. */
export interface Rule {
  readonly holds: (value: unknown) => boolean
  readonly rule: string
  /** The value may be a secret, or hold one, so messages leave it out. */
  readonly secret?: true
}

/** The rule of each option, and what it is if it is not set. */
export type Table<T> = {
  readonly [name in keyof T]-?:
    & Rule
    & (undefined extends T[name] ? { readonly default?: never, readonly required?: never } :
      | { readonly default: T[name], readonly required?: never }
      | { readonly required: true, readonly default?: never })
}

/** Options with a default, but those that are named. */
export type Complete<T, Unset extends keyof T> =
  & { readonly [name in Exclude<keyof T, Unset>]-?: Exclude<T[name], undefined> }
  & { readonly [name in Unset]-?: T[name] | undefined }

/**
 * Returns the options of a table, checked, with the defaults of those that are not set. A default replaces undefined
 * only: null is a wrong value.
 *
 * @param name - of the options in messages, `clients[0]`; of those of a plugin it is empty
 */
export type SettingsBy = <T extends object>(table: Table<T>, options: unknown, name?: string) => T

/** @param invalid - makes the error that is thrown */
export function settingsByTables (invalid: (option: string, rule: string) => Error): SettingsBy {
  return <T extends object>(table: Table<T>, options: unknown, name = ''): T => {
    if (!isObject(options)) throw invalid(name, `must be an object (got ${kindOf(options)})`)
    const [prefix, names] = [name === '' ? '' : `${name}.`, Object.keys(table)]
    const unknown = Object.keys(options).find((option) => !names.includes(option))
    // First: a misspelt option is also one that is missing.
    if (unknown !== undefined) throw invalid(`${prefix}${unknown}`, unknownOption(unknown, names))
    const settings = names.map((option) => {
      const { holds, rule, secret, required, default: fallback } = table[option as keyof T]
      const value = options[option]
      if ((value !== undefined || required) && !holds(value)) {
        throw invalid(`${prefix}${option}`, `${rule} (got ${secret ? kindOf(value) : shown(value)})`)
      }
      return [option, value === undefined ? fallback : value]
    })
    return Object.fromEntries(settings) as T
  }
}

function unknownOption (option: string, names: readonly string[]): string {
  const [near] = nearestBy(names, option, (name) => name)
  return `is not an option. ${near === undefined ? `Known: ${names.join(', ')}` : `Did you mean ${near}?`}`
}

/** The options of a plugin without those that Fastify passes on from its registration. */
export function withoutRegistration<T extends object> (options: T): Omit<T, 'logLevel' | 'logSerializers'> {
  const { logLevel: _logLevel, logSerializers: _logSerializers, ...own } = options as T & {
    readonly logLevel?: unknown,
    readonly logSerializers?: unknown
  }
  return own
}

/** Objects are not opened. */
function shown (value: unknown): string {
  return inspect(Array.isArray(value) ? value.map(withoutPassword) : withoutPassword(value), {
    depth: Array.isArray(value) ? 0 : -1,
    breakLength: Infinity,
    maxArrayLength: 5,
    maxStringLength: 80,
    customInspect: false
  })
}

/** Of a string that may be a URL; with everything up to its last `@`, as passwords may be wrongly encoded. */
function withoutPassword (value: unknown): unknown {
  if (typeof value !== 'string') return value
  const [start, end] = [value.indexOf('://'), value.lastIndexOf('@')]
  return start === -1 || end < start ? value : `${value.slice(0, start)}://…${value.slice(end)}`
}

function kindOf (value: unknown): string {
  if (value === undefined || value === null || value === '') return inspect(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function isObject (value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isFilled (value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export const FUNCTION: Rule = { holds: (value) => typeof value === 'function', rule: 'must be a function' }

export const BOOLEAN: Rule = { holds: (value) => typeof value === 'boolean', rule: 'must be true or false' }

export const TEXT: Rule = { holds: isFilled, rule: 'must be a non-empty string' }

export const OBJECT: Rule = { holds: isObject, rule: 'must be an object' }

/** Whose items have a table, or rules that relate them. */
export const ARRAY: Rule = { holds: Array.isArray, rule: 'must be an array' }

export function oneOf (...values: readonly unknown[]): Rule {
  const names = values.map((value) => inspect(value))
  return {
    holds: (value) => values.includes(value),
    rule: `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  }
}

export function integer (least: number, most = Number.MAX_SAFE_INTEGER): Rule {
  return {
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    rule: `must be an integer${most < Number.MAX_SAFE_INTEGER ? ` from ${least} to ${most}` : `, at least ${least}`}`
  }
}

export function milliseconds (least: number, most = Number.MAX_SAFE_INTEGER): Rule {
  const { holds, rule } = integer(least, most)
  return { holds, rule: rule.replace('integer', 'integer of milliseconds') }
}

/** Of a timer, which treats a longer wait as none. */
export const DURATION = milliseconds(1, 2 ** 31 - 1)

export function arrayOf (isItem: (item: unknown) => boolean, items: string): Rule {
  return { holds: (value) => Array.isArray(value) && value.every(isItem), rule: `must be an array of ${items}` }
}

/** The same, but not empty. */
export function filledArrayOf (isItem: (item: unknown) => boolean, items: string): Rule {
  const { holds } = arrayOf(isItem, items)
  return {
    holds: (value) => holds(value) && (value as readonly unknown[]).length > 0,
    rule: `must be a non-empty array of ${items}`
  }
}
