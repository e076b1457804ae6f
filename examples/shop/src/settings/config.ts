import { type Static, type TObject, Type } from '@sinclair/typebox'
import { envSchema, type EnvSchemaData } from 'env-schema'
import { SHOP_SETTINGS } from '../errors.ts'
import { dataDirFrom } from './data-dir.ts'
import { itemsOf, mistakesIn } from './mistakes.ts'
import { RISKS } from './risks.ts'

/** A list, written with commas. Its pattern is of the whole text. */
function List (options: { description: string, default?: string, pattern?: string }) {
  return Type.Unsafe<readonly string[]>({ type: 'string', separator: ',', ...options })
}

const ORIGIN = '^https?://[^/]+/?$'

/** `id:secret`; spaces around it are not counted, as they are not kept. */
const SECRET = '\\s*[^\\s:,][^:,]*:[^,]{31,}[^\\s,]\\s*'

/** `id:secret,id:secret`. */
const SECRETS = `^${SECRET}(,${SECRET})*$`

const Settings = Type.Object({
  HOST: Type.String({ default: 'localhost', minLength: 1, description: 'Interface to listen on' }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65535, description: 'Port to listen on; 0 takes any free one' }),
  PUBLIC_BASE_URL: Type.String({ default: 'http://localhost:8080', pattern: ORIGIN, description: 'Public origin, for absolute URLs' }),
  MCP_ENABLED: Type.Boolean({ default: false, description: 'Serves the catalog tools at /mcp' }),
  IDP_ISSUER: Type.String({ pattern: '^https?://', description: 'The identity provider, exactly as its tokens name it' }),
  IDP_MCP_CLIENT_ID: Type.String({ default: '', description: 'Public client for the browser login of MCP clients; needed for it' }),
  IDP_USER_CLIENT_IDS: List({ default: '', description: 'Further clients that people sign in with' }),
  IDP_M2M_CLIENT_IDS: List({ default: '', description: 'Clients of machines, or `none`; unset, any client of the issuer with a scope that ends in /api' }),
  API_KEY_MARKER: Type.String({ default: 'shop', minLength: 1, description: 'What every API key starts with: lower-case words joined by _, at most 16 characters' }),
  API_KEY_PEPPERS: List({
    pattern: SECRETS,
    description: 'Secrets behind the fingerprints of API keys, newest first, as id:secret; a secret has at least 32 characters'
  }),
  ADMIN_SUBJECTS: List({ default: '', description: 'Subjects of the people who are admins from the start' }),
  PAY_KEY_SECRETS: List({
    pattern: SECRETS,
    description: 'Secrets that encrypt the payment keys of shops, newest first, as id:secret; a secret has at least 32 characters'
  }),
  PAY_API_URL: Type.Optional(Type.String({ pattern: ORIGIN, description: 'A stand-in for the payment provider; unset, the provider itself' })),
  PAY_ROUTES_PUBLIC: Type.Boolean({ default: false, description: 'Lets anybody call the routes under /shops/:shop_id/pay/' }),
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://', description: 'PostgreSQL 15 or later; unset, an embedded database in DATA_DIR' })),
  DATA_DIR: Type.String({ default: '.data', minLength: 1, description: 'Where the embedded database keeps its files; a relative path starts at the top of the repository' }),
  MIGRATE_ON_START: Type.Boolean({ default: true, description: 'Brings the tables up to date before listening' }),
  LOG_LEVEL: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], default: 'info', description: 'Least level to log'
  }),
  TRUST_PROXY: Type.String({
    default: '',
    pattern: '^(\\d{1,2}|[0-9a-zA-Z.:/]+(\\s*,\\s*[0-9a-zA-Z.:/]+)*)?$',
    description: 'Whose X-Forwarded-For and X-Forwarded-Proto are believed: how many proxies stand in front, or their addresses or networks, separated by commas; unset, nobody\'s'
  }),
  CORS_ORIGINS: List({ default: '', pattern: '^(https?://[^/,\\s]+(\\s*,\\s*https?://[^/,\\s]+)*)?$', description: 'Origins of web pages that may call the server from a browser, separated by commas; http://localhost:* is every port of localhost' }),
  REDIS_URL: Type.Optional(Type.String({ pattern: '^rediss?://', description: 'Where several servers count calls together; unset, each counts for itself' })),
  RATE_LIMIT_MAX: Type.Integer({ default: 600, minimum: 1, description: 'Calls that a key, person or machine may make in a window' }),
  RATE_LIMIT_ANONYMOUS_MAX: Type.Integer({ default: 300, minimum: 1, description: 'Calls without a credential that an IP address may make in a window' }),
  RATE_LIMIT_REFUSED_MAX: Type.Integer({ default: 60, minimum: 1, description: 'Refused credentials after which API keys from that IP address are refused until the window ends, unless they were accepted in the last 24 hours' }),
  RATE_LIMIT_WINDOW: Type.Integer({ default: 60_000, minimum: 1000, maximum: 3_600_000, description: 'Length of the window of all limits, in milliseconds' }),
  MAX_CONCURRENT_CALLS: Type.Integer({ default: 8, minimum: 1, description: 'Calls of a person, a machine, or the API keys of a shop that run at once; further ones wait' }),
  QUOTA_RECORDS: Type.Integer({ default: 1_000_000, minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Records that a shop may have: products, categories, tags, attributes, accounts, orders and prices' }),
  QUOTA_BYTES: Type.Integer({ default: 4_294_967_296, minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes that the records of a shop may have, as JSON' }),
  MAX_EVENT_LOOP_DELAY: Type.Integer({ default: 1000, minimum: 0, description: 'Delay of the event loop above which calls are answered with 503, in milliseconds; 0 never' }),
  SHUTDOWN_DELAY: Type.Integer({ default: 5000, minimum: 0, maximum: 300_000, description: 'How long the server serves on after it was told to stop, while /readyz says 503, in milliseconds' }),
  METRICS_TOKEN: Type.Optional(Type.String({ pattern: '^[\\x21-\\x7e]{16,}$', description: 'Bearer token for /metrics, at least 16 characters; unset, there is no /metrics' })),
  ALLOW_INSECURE: List({
    default: '',
    pattern: `^(${oneOf(RISKS)}(\\s*,\\s*${oneOf(RISKS)})*)?$`,
    description: `Insecure settings to allow in production, separated by commas: ${RISKS.join(', ')}`
  })
})

function oneOf (names: readonly string[]): string {
  return `(${names.join('|')})`
}

/** What the server can be told from outside. */
export type Config = Readonly<Static<typeof Settings>>

/** Every setting by name, with its default and description. */
export const settings: Readonly<Record<string, { readonly default?: unknown, readonly description?: string }>> = Settings.properties

/**
 * Reads the settings.
 *
 * @param environment - names and texts, as in `process.env`
 * @param defaults - replace the defaults of the schema
 * @param risksIn - what else is wrong with the settings; is shown them as they were given when they cannot be used
 * @throws {@link SHOP_SETTINGS} that lists every setting that cannot be used
 */
export function configFromEnvironment (
  environment: NodeJS.ProcessEnv,
  defaults: Readonly<Record<string, unknown>> = {},
  risksIn: (given: Readonly<Record<string, unknown>>) => readonly string[] = () => []
): Config {
  const { config, mistakes } = checked(Settings, { ...defaults, ...givenIn(environment) })
  const all = [...mistakes, ...risksIn(config)]
  if (all.length > 0) throw mistaken(all)
  return config
}

/** What the commands need that work on the database alone. */
export const databaseSettings = readerOf(Type.Pick(Settings, ['DATABASE_URL', 'DATA_DIR']))

/** What the seed needs beside it: payment keys are encrypted. */
export const seedSettings = readerOf(Type.Pick(Settings, ['DATABASE_URL', 'DATA_DIR', 'PAY_KEY_SECRETS']))

function readerOf<Schema extends TObject> (schema: Schema) {
  return (environment: NodeJS.ProcessEnv): Static<Schema> => {
    const { config, mistakes } = checked<Static<Schema>>(schema, givenIn(environment))
    if (mistakes.length > 0) throw mistaken(mistakes)
    return config
  }
}

/** Compose files and shells pass a variable that is not set as an empty text. */
function givenIn (environment: NodeJS.ProcessEnv): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

function mistaken (mistakes: readonly string[]): Error {
  return new SHOP_SETTINGS(mistakes.map((mistake) => `  ${mistake}`).join('\n'))
}

function checked<Read = Config> (schema: TObject, given: Readonly<Record<string, unknown>>): { config: Read, mistakes: readonly string[] } {
  const { config, misshapen } = shaped(schema, given)
  const wellFormed = Object.keys(schema.properties).filter((name) => misshapen.every(([wrong]) => wrong !== name))
  return {
    config: config as Read,
    mistakes: [
      ...misshapen.map(([name, message]) => `${name} ${message}`.trim()),
      ...mistakesIn(Object.fromEntries(wellFormed.map((name) => [name, given[name]])))
    ]
  }
}

/** The settings as values; as they were given, when the form of one is wrong. */
function shaped (schema: TObject, given: Readonly<Record<string, unknown>>): { config: object, misshapen: ReadonlyArray<readonly [name: string, message: string]> } {
  try {
    const config = envSchema<EnvSchemaData>({ schema, data: given, env: false })
    return { config: Object.freeze({ ...config, ...listsOf(config), ...placeOf(config) }), misshapen: [] }
  } catch (error) {
    const { errors = [] } = error as { errors?: readonly Fault[] }
    const byDefault = Object.fromEntries(Object.entries(schema.properties).map(([name, { default: value }]) => [name, value]))
    return {
      config: { ...byDefault, ...given },
      misshapen: errors.map((fault) => {
        const name = fault.instancePath.slice(1)
        return [name, complaintAbout(fault, schema.properties[name]?.description ?? '')]
      })
    }
  }
}

interface Fault {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: { readonly allowedValues?: readonly unknown[], readonly type?: unknown }
}

/** In words: Ajv names no values, and patterns are not for people. */
function complaintAbout ({ keyword, message = 'cannot be used', params: { allowedValues, type } }: Fault, description: string): string {
  if (allowedValues !== undefined) return `must be one of ${allowedValues.join(', ')}`
  if (keyword === 'type' && type === 'boolean') return 'must be true or false'
  return keyword === 'pattern' ? `has the wrong form. What it is for: ${description}` : message
}

function listsOf (config: object): object {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => Array.isArray(value)).map(([name, items]) => [name, itemsOf(items)]))
}

function placeOf ({ DATA_DIR: path }: EnvSchemaData): object {
  return { DATA_DIR: dataDirFrom(String(path)) }
}
