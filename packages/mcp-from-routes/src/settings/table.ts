import { inspect } from 'node:util'
import { check } from '../checks.ts'

/** What a value must be, and how a message says it. */
export interface Rule {
  readonly holds: (value: unknown) => boolean
  readonly rule: string
}

/** The rule of each option, and what it is if it is not set; rules that several options share are checked beside it. */
export type Table<T> = {
  readonly [name in keyof T]-?:
    & Rule
    & (undefined extends T[name] ? { readonly default?: never } : {
      readonly default: T[name]
    })
}

/**
 * The options of a table, checked, with the defaults of those that are not set. A default replaces undefined only: null
 * is a wrong value.
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} that names the option, its rule and the value
 */
export function settingsBy<T extends object> (table: Table<T>, options: { readonly [name in keyof T]?: unknown }): T {
  const settings = Object.keys(table).map((name) => {
    const { holds, rule, default: fallback } = table[name as keyof T]
    const value = options[name as keyof T]
    check(value === undefined || holds(value), name, `${rule} (got ${shown(value)})`)
    return [name, value === undefined ? fallback : value]
  })
  return Object.fromEntries(settings) as T
}

function shown (value: unknown): string {
  return inspect(value, { depth: 1, breakLength: Infinity, maxArrayLength: 5, maxStringLength: 80 })
}

export const FUNCTION: Rule = { holds: (value) => typeof value === 'function', rule: 'must be a function' }

export const BOOLEAN: Rule = { holds: (value) => typeof value === 'boolean', rule: 'must be true or false' }

export function oneOf (first: unknown, ...others: readonly unknown[]): Rule {
  const names = [first, ...others].map((value) => inspect(value))
  return {
    holds: (value) => value === first || others.includes(value),
    rule: `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  }
}

export function integer (least: number, most = Number.MAX_SAFE_INTEGER): Rule {
  return {
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    rule: `must be an integer${most < Number.MAX_SAFE_INTEGER ? ` from ${least} to ${most}` : `, at least ${least}`}`
  }
}

export function arrayOf (isItem: (item: unknown) => boolean, items: string): Rule {
  return { holds: (value) => Array.isArray(value) && value.every(isItem), rule: `must be an array of ${items}` }
}
