import { readFileSync } from 'node:fs'

/** Settings that are secrets or contain one. Each can come from a file, which `<name>_FILE` names. */
export const SECRET_SETTINGS = [
  'API_KEY_PEPPERS',
  'PAY_KEY_SECRETS',
  'OAUTH_BROKER_SECRETS',
  'OAUTH_BROKER_ASSERTION_KEYS',
  'OAUTH_BROKER_ASSERTION_CLIENTS',
  'METRICS_TOKEN',
  'IDP_MCP_CLIENT_SECRET',
  'IDP_INTROSPECTION_CLIENT_SECRET',
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'PGPASSWORD',
  'REDIS_URL'
] as const

/** Texts of settings, and what is wrong with those that come from files. */
export interface Given {
  readonly given: Readonly<Record<string, string>>
  /** By the name of the setting. */
  readonly wrong: ReadonlyMap<string, string>
}

/**
 * Reads the files of the secrets. A line break at the end, which editors and `echo` add, is no part of a secret.
 *
 * @param environment - names and strings, as in `process.env`. An empty one counts as unset: compose files and shells
 *   pass them
 * @param names - the settings that are wanted
 */
export function givenIn (environment: NodeJS.ProcessEnv, names: readonly string[]): Given {
  const texts = Object.entries(environment).filter((entry): entry is [string, string] =>
    entry[1] !== undefined && entry[1] !== ''
  )
  const given = Object.fromEntries(texts)
  const wrong = new Map<string, string>()
  for (const name of SECRET_SETTINGS) {
    const file = given[`${name}_FILE`]
    if (file === undefined || !names.includes(name)) continue
    const mistake = given[name] === undefined ? undefined : `${name} and ${name}_FILE are both set: remove one of them`
    const read = mistake ?? textOf(file)
    if (typeof read === 'string') wrong.set(name, mistake ?? `${name}_FILE ${read}`)
    else given[name] = read.text
  }
  return { given, wrong }
}

/** @returns what the file contains, or what is wrong with it */
function textOf (file: string): { readonly text: string } | string {
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    return text === '' ? `is an empty file: ${file}` : { text }
  } catch (error) {
    return `cannot be read: ${(error as Error).message}`
  }
}
