import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isFilled } from '#shared/option-table'
import { isPath } from '../../checks.ts'
import { excerpt } from '../../call/excerpt.ts'
import { isObject } from '../../schema/json-schema.ts'
import { MCP_FROM_ROUTES_CASES_FILE } from '../errors.ts'
import { ANSWERS } from '../questions.ts'
import type { Case, Cases, CaseSettings, WholeCase } from './case.ts'

/** The cases of a file, and the endpoint that they are for. */
export interface ReadCases {
  readonly path: string | undefined
  readonly cases: readonly WholeCase[]
}

/**
 * Reads a file of cases: JSON, or a module whose default export is the same, or a function that returns it.
 *
 * @throws {@link MCP_FROM_ROUTES_CASES_FILE}
 */
export async function casesFromFile (file: string, cwd: string): Promise<ReadCases> {
  const path = resolve(cwd, file)
  const fail = (error: unknown): never => {
    throw new MCP_FROM_ROUTES_CASES_FILE(
      file,
      `cannot be read: ${error instanceof Error ? error.message : String(error)}`
    )
  }
  const extension = extname(file)
  if (extension === '.json') {
    return casesFrom(await readFile(path, 'utf8').then((text): unknown => JSON.parse(text)).catch(fail), file)
  }
  if (!/^\.[cm]?[jt]s$/.test(extension)) {
    throw new MCP_FROM_ROUTES_CASES_FILE(file, 'must be JSON, or a module that exports the same as its default')
  }
  const { default: given } = await import(pathToFileURL(path).href).catch(fail) as { default?: unknown }
  return casesFrom(typeof given === 'function' ? await Promise.resolve().then(() => given()).catch(fail) : given, file)
}

type Rule = readonly [holds: (value: unknown) => boolean, rule: string]

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isFilled)
const isTexts = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string')
const isWhole = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most

const OF_ALL: Readonly<Record<keyof CaseSettings, Rule>> = {
  never: [isNames, "must be an array of tool names, such as ['delete_*']"],
  repeats: [(value) => isWhole(value, 100), 'must be a whole number from 1 to 100'],
  share: [(value) => typeof value === 'number' && value > 0 && value <= 1, 'must be a number above 0 and up to 1'],
  steps: [(value) => isWhole(value, 20), 'must be a whole number from 1 to 20'],
  person: [(value) => ANSWERS.includes(value), "must be 'accept', 'decline' or 'cancel'"],
  headers: [isTexts, 'must be an object of strings']
}
const OF_FILE: Readonly<Record<keyof Cases, Rule>> = {
  ...OF_ALL,
  cases: [(value) => Array.isArray(value) && value.length > 0, 'must be an array with at least one case'],
  path: [isPath, 'must start with a slash and have no parameters']
}
const OF_CASE: Readonly<Record<keyof Case, Rule>> = {
  ...OF_ALL,
  says: [isFilled, 'must be what the person says, a string'],
  calls: [(value) => Array.isArray(value), 'must be an array of calls']
}
const OF_CALL: Readonly<Record<string, Rule>> = {
  tool: [isFilled, 'must be the name of a tool'],
  arguments: [isObject, 'must be an object'],
  schema: [isObject, 'must be a JSON Schema']
}

/**
 * Checks what a file holds.
 *
 * @param file - named in errors
 * @throws {@link MCP_FROM_ROUTES_CASES_FILE}
 */
export function casesFrom (given: unknown, file: string): ReadCases {
  const { cases, path, ...settings } = checked<Cases>(Array.isArray(given) ? { cases: given } : given, OF_FILE, [
    'cases'
  ], {
    file,
    where: ''
  })
  return {
    path,
    cases: cases.map((one, index) => {
      const where = `${placeOf(one, index)}: `
      const own = checked<Case>(one, OF_CASE, ['says'], { file, where })
      const { calls = [] } = own
      for (const [index, call] of calls.entries()) {
        checked(call, OF_CALL, ['tool'], { file, where: `${where}calls[${index}].` })
      }
      const whole = {
        never: [],
        repeats: 1,
        share: 1,
        steps: 1,
        person: undefined,
        headers: {},
        ...settings,
        ...own,
        calls
      }
      if (calls.length === 0 && whole.never.length === 0) {
        throw new MCP_FROM_ROUTES_CASES_FILE(
          file,
          `${where}has neither calls nor never, so it cannot fail. For no call at all, write never: ['*']`
        )
      }
      return whole
    })
  }
}

/** A case as errors name it. */
export function placeOf (one: unknown, index: number): string {
  const says = isObject(one) && typeof one.says === 'string' ? ` (${JSON.stringify(excerpt(one.says))})` : ''
  return `case ${index + 1}${says}`
}

function checked<T> (
  given: unknown,
  rules: Readonly<Record<string, Rule>>,
  required: readonly string[],
  { file, where }: { readonly file: string, readonly where: string }
): T {
  const wrong = (what: string): Error => new MCP_FROM_ROUTES_CASES_FILE(file, `${where}${what}`)
  if (!isObject(given)) throw wrong(`must be an object with ${Object.keys(rules).join(', ')}`)
  for (const key of [...Object.keys(given), ...required]) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (rule === undefined) throw wrong(`${key} is unknown. There are ${Object.keys(rules).join(', ')}`)
    if (!rule[0](given[key])) throw wrong(`${key} ${rule[1]}`)
  }
  return given as T
}
