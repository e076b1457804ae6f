import { type Static, Type } from '@sinclair/typebox'
import { envSchema } from 'env-schema'
import { SHOP_SETTINGS } from './errors.ts'

/** A list, written with commas. Its pattern is of the whole text. */
function List (options: { description: string, default?: string, pattern?: string }) {
  return Type.Unsafe<readonly string[]>({ type: 'string', separator: ',', ...options })
}

const ORIGIN = '^https?://[^/]+/?$'

/** `id:secret,id:secret`. */
const SECRETS = '^[^:,]+:[^,]{32,}(,[^:,]+:[^,]{32,})*$'

const Settings = Type.Object({
  HOST: Type.String({ default: 'localhost', minLength: 1, description: 'Interface to listen on' }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65535, description: 'Port to listen on; 0 takes any free one' }),
  PUBLIC_BASE_URL: Type.String({ default: 'http://localhost:8080', pattern: ORIGIN, description: 'Public origin, for absolute URLs' }),
  MCP_ENABLED: Type.Boolean({ default: false, description: 'Serves the catalog tools at /mcp' }),
  IDP_ISSUER: Type.String({ pattern: '^https?://', description: 'The identity provider, exactly as its tokens name it' }),
  IDP_MCP_CLIENT_ID: Type.String({ default: '', description: 'Public client for the browser login of MCP clients; needed for it' }),
  IDP_USER_CLIENT_IDS: List({ default: '', description: 'Further clients that people sign in with' }),
  IDP_M2M_CLIENT_IDS: List({ default: '', description: 'Clients of machines; none named: any client of the issuer with a scope that ends in /api' }),
  API_KEY_MARKER: Type.String({ default: 'shop', minLength: 1, description: 'What every API key starts with' }),
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
  DATA_DIR: Type.String({ default: '.data', minLength: 1, description: 'Where the embedded database keeps its files' }),
  MIGRATE_ON_START: Type.Boolean({ default: true, description: 'Brings the tables up to date before listening' }),
  LOG_LEVEL: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], default: 'info', description: 'Least level to log'
  })
})

/** What the server can be told from outside. */
export type Config = Readonly<Static<typeof Settings>>

/**
 * Reads the settings.
 *
 * @param environment - names and texts, as in `process.env`
 * @param defaults - replace the defaults of the schema
 * @throws {@link SHOP_SETTINGS} that lists every setting that cannot be used
 */
export function configFromEnvironment (environment: NodeJS.ProcessEnv, defaults: Readonly<Record<string, unknown>> = {}): Config {
  // Compose files and shells pass a variable that is not set as an empty text.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  try {
    const config = envSchema<Config>({ schema: Settings, data: [defaults, given], env: false })
    return Object.freeze({ ...config, ...listsOf(config) })
  } catch (error) {
    const { errors = [] } = error as { errors?: readonly { instancePath: string, message?: string }[] }
    throw new SHOP_SETTINGS(errors.map(({ instancePath, message }) => `  ${`${instancePath.slice(1)} ${message}`.trim()}`).join('\n'))
  }
}

/** `a, b,` is a list of two. */
function listsOf (config: Config): Partial<Config> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => Array.isArray(value))
    .map(([name, items]) => [name, (items as readonly string[]).map((item) => item.trim()).filter((item) => item !== '')]))
}
