import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Provider } from 'dual-auth'
import { envSchema, type EnvSchemaData } from 'env-schema'
import { SHOP_SETTINGS } from '../errors.ts'
import { excerpt } from '#shared/excerpt'
import { dataDirFrom } from './data-dir.ts'
import { givenIn, SECRET_SETTINGS } from './files.ts'
import { ALGORITHMS, itemsOf, mistakesIn } from './mistakes.ts'
import { RISKS } from './risks.ts'

/** A list, separated by commas. Its pattern matches the whole string. */
function List (options: { description: string, default?: string, pattern?: string }) {
  return Type.Unsafe<readonly string[]>({ type: 'string', separator: ',', ...options })
}

/** The name of a claim that differs from the provider's usual one. */
function Claim (what: string) {
  return Type.Optional(
    Type.String({ pattern: '^[\\x21-\\x7e]+$', description: `Claim that names ${what}; default: that of IDP_PROVIDER` })
  )
}

const ORIGIN = '^https?://[^/]+/?$'

/** Five fields. */
const CRON = '^\\s*\\S+(\\s+\\S+){4}\\s*$'

/** `id:secret`. Spaces around it are ignored. */
const SECRET = '\\s*[^\\s:,][^:,]*:[^,]{31,}[^\\s,]\\s*'

/** `id:secret,id:secret`. */
const SECRETS = `^${SECRET}(,${SECRET})*$`

/** What is wrong with another form shows this one. */
const EXAMPLE = '2026-11:$(openssl rand -base64 32)'

/** A bearer token, without commas. Spaces around it are ignored. */
const TOKEN = '\\s*[\\x21-\\x2b\\x2d-\\x7e]{16,}\\s*'

const PROVIDERS: readonly Provider[] = [
  'cognito',
  'rfc9068',
  'auth0',
  'entra',
  'keycloak',
  'okta',
  'zitadel',
  'authentik',
  'supabase',
  'generic'
]

const Schema = Type.Object({
  HOST: Type.String({ default: 'localhost', minLength: 1, description: 'Interface to listen on' }),
  PORT: Type.Integer({
    default: 8080,
    minimum: 0,
    maximum: 65535,
    description: 'Port to listen on; 0 picks a free one'
  }),
  PUBLIC_BASE_URL: Type.String({
    default: 'http://localhost:8080',
    pattern: ORIGIN,
    description: 'Public origin of the server, without a path, for absolute URLs'
  }),
  MCP_ENABLED: Type.Boolean({ default: false, description: 'Serves the catalog tools at /mcp' }),
  MCP_IMPORTS_ENABLED: Type.Boolean({
    default: false,
    description: 'Adds tools for product imports; API keys can then import'
  }),
  MCP_VIEWS_ENABLED: Type.Boolean({
    default: false,
    description: 'Lets hosts with MCP Apps show results of tools as views'
  }),
  CONSOLE_ENABLED: Type.Boolean({ default: false, description: 'Serves the web application at /console' }),
  CONSOLE_IMAGE_HOSTS: List({
    default: '',
    description: 'Hosts whose pictures the console shows, separated by commas; *.example.com is every host below it; ' +
      'default: every host'
  }),
  IDP_ISSUER: Type.String({
    pattern: '^https?://',
    description: 'Issuer URL of the identity provider, exactly as in the iss claim of its tokens'
  }),
  IDP_PROVIDER: Type.Unsafe<Provider>({
    type: 'string',
    enum: PROVIDERS,
    default: 'cognito',
    description: `Kind of identity provider: ${PROVIDERS.join(', ')}`
  }),
  IDP_TENANTS: List({
    default: '',
    description: 'Tenant ids whose people may sign in, separated by commas; only with entra; required if IDP_ISSUER ' +
      'contains {tenantid}'
  }),
  IDP_SECOND_ISSUER: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'Another issuer of the same people and clients, such as the issuer-cognito-idp URL of a Cognito pool'
    })
  ),
  IDP_AUDIENCE: List({
    default: '',
    description:
      'Accepted values of the aud claim, separated by commas; default: PUBLIC_BASE_URL, with and without /mcp'
  }),
  IDP_ALGORITHMS: Type.Unsafe<ReadonlyArray<typeof ALGORITHMS[number]>>({
    type: 'string',
    separator: ',',
    default: 'RS256',
    description: `Signature algorithms of its access tokens, separated by commas: ${ALGORITHMS.join(', ')}`
  }),
  IDP_CLIENT_CLAIM: Claim('the client of a token'),
  IDP_SUBJECT_CLAIM: Claim('a person for ever: no name and no address'),
  IDP_USERNAME_CLAIM: Claim('people for display'),
  IDP_SCOPES: List({
    default: '',
    pattern: '^[\\x20-\\x7e]*$',
    description: 'Scopes that sign-ins request, separated by commas; default: openid, email and profile, and what ' +
      'IDP_PROVIDER needs'
  }),
  IDP_MCP_CLIENT_ID: Type.String({
    default: '',
    description: 'Public OAuth client of MCP clients; required for browser login'
  }),
  IDP_MCP_CLIENT_SECRET: Type.Optional(
    Type.String({ minLength: 1, description: 'Secret of IDP_MCP_CLIENT_ID; only with OAUTH_BROKER' })
  ),
  OAUTH_BROKER: Type.Boolean({
    default: false,
    description:
      'Lets MCP clients with any callback URL sign in through this server; IDP_MCP_CLIENT_ID then needs the ' +
      'callback /oauth/callback of PUBLIC_BASE_URL'
  }),
  OAUTH_BROKER_DOCUMENTS: Type.Boolean({
    default: true,
    description: 'Lets clients identify themselves by metadata documents, which the server reads from the internet; ' +
      'otherwise they register'
  }),
  OAUTH_BROKER_APP_SCHEMES: List({
    default: '',
    pattern: '^[a-z0-9+.,\\s-]*$',
    description:
      'Further URL schemes of apps that may sign in with OAUTH_BROKER, separated by commas, without the colon; ' +
      'always: cursor, vscode, vscode-insiders, windsurf, and schemes with a dot'
  }),
  OAUTH_BROKER_SECRETS: List({
    default: '',
    pattern: `^$|${SECRETS}`,
    description:
      'Secrets that seal the codes and refresh tokens of OAUTH_BROKER, as id:secret, newest first, separated by ' +
      'commas; at least 32 characters each; required with OAUTH_BROKER'
  }),
  OAUTH_BROKER_ASSERTION_ISSUERS: List({
    default: '',
    description:
      'Identity providers of organizations whose identity assertions (enterprise-managed authorization) are ' +
      'accepted, separated by commas; only with OAUTH_BROKER'
  }),
  OAUTH_BROKER_ASSERTION_KEYS: List({
    default: '',
    pattern: `^$|${SECRETS}`,
    description: 'Secrets that sign the access tokens for such assertions, as id:secret, newest first, separated by ' +
      'commas; at least 32 characters each; required with OAUTH_BROKER_ASSERTION_ISSUERS'
  }),
  OAUTH_BROKER_ASSERTION_CLIENTS: List({
    default: '',
    pattern: `^$|${SECRETS}`,
    description:
      'Clients that exchange such assertions, as id:secret, separated by commas; at least 32 characters each; ' +
      'an id may have several; required with OAUTH_BROKER_ASSERTION_ISSUERS, unless OAUTH_BROKER_DOCUMENTS is ' +
      'true'
  }),
  IDP_CONSOLE_CLIENT_ID: Type.String({
    default: '',
    description:
      'Public OAuth client of the web application, with the callback /console/signed-in; required with CONSOLE_ENABLED'
  }),
  IDP_USER_CLIENT_IDS: List({
    default: '',
    description:
      'Other OAuth clients that people sign in with, separated by commas; `any`, with generic: also clients ' +
      'that register themselves, if IDP_AUDIENCE is the URL of this server'
  }),
  IDP_SESSION_TOKENS: Type.Boolean({
    default: false,
    description:
      'Accepts tokens that name no client, as sessions of people at the provider itself; only with generic; ' +
      'supabase has it on'
  }),
  IDP_M2M_CLIENT_IDS: List({
    default: '',
    description: 'OAuth clients of machines, separated by commas, or `none`; default: any client of the issuer, with ' +
      'zitadel and authentik none. With cognito, their tokens need a scope that ends in /api'
  }),
  IDP_INTROSPECTION_CLIENT_ID: Type.String({
    default: '',
    description:
      'OAuth client that introspects opaque tokens (RFC 7662); only with generic, keycloak or zitadel; default: ' +
      'they get 401'
  }),
  IDP_INTROSPECTION_CLIENT_SECRET: Type.Optional(
    Type.String({ minLength: 1, description: 'Secret of IDP_INTROSPECTION_CLIENT_ID, which requires it' })
  ),
  IDP_INTROSPECTION_CLIENT_AUTH: Type.Unsafe<'client_secret_basic' | 'client_secret_post'>({
    type: 'string',
    enum: ['client_secret_basic', 'client_secret_post'],
    default: 'client_secret_basic',
    description: 'How that client authenticates: client_secret_basic or client_secret_post'
  }),
  IDP_INTROSPECTION_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'Introspection endpoint; default: that of the discovery document, on the origin of IDP_ISSUER'
    })
  ),
  IDP_INTROSPECTION_JWTS: Type.Boolean({
    default: false,
    description: 'Introspects JWTs too, for lightweight tokens of Keycloak, and to notice revoked tokens soon'
  }),
  IDP_INTROSPECTION_CACHE_TIME: Type.Integer({
    default: 60_000,
    minimum: 0,
    maximum: 600_000,
    description: 'How long an introspected token is accepted without asking again, in milliseconds'
  }),
  API_KEY_MARKER: Type.String({
    default: 'shop',
    minLength: 1,
    description: 'Prefix of every API key: lower-case words joined by _, at most 16 characters'
  }),
  API_KEY_PEPPERS: List({
    pattern: SECRETS,
    description:
      'Secrets for the fingerprints of API keys, as id:secret, newest first, separated by commas; at least 32 ' +
      'characters each'
  }),
  SECRET_SCANNING_ENABLED: Type.Boolean({
    default: false,
    description: 'Accepts reports of leaked API keys from GitHub at /secret-scanning, and revokes these keys'
  }),
  SECRET_SCANNING_KEYS_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'URL of the public keys that verify these reports; default: that of GitHub'
    })
  ),
  ADMIN_SUBJECTS: List({
    default: '',
    description: 'Subjects (sub claims) of people who become admins at startup, separated by commas'
  }),
  PAY_KEY_SECRETS: List({
    pattern: SECRETS,
    description:
      'Secrets that encrypt the payment keys of shops, as id:secret, newest first, separated by commas; at ' +
      'least 32 characters each'
  }),
  PAY_API_URL: Type.Optional(
    Type.String({ pattern: ORIGIN, description: 'Origin of a fake payment provider; default: the provider itself' })
  ),
  PAY_TIMEOUT: Type.Integer({
    default: 4000,
    minimum: 100,
    maximum: 20_000,
    description: 'Timeout of a request to the payment provider, in milliseconds; a call is tried twice'
  }),
  PAY_ROUTES_PUBLIC: Type.Boolean({
    default: false,
    description: 'Makes the routes under /shops/:shop_id/pay/ public'
  }),
  PAY_SCHEDULE_CHECK: Type.Optional(
    Type.String({
      pattern: CRON,
      description:
        'When to compare all accounts with the payment provider, as a cron pattern such as 0 3 * * *; default: never'
    })
  ),
  PAY_SCHEDULE_CHANGES: Type.Optional(
    Type.String({
      pattern: CRON,
      description:
        'When to read customers that changed at the payment provider, as a cron pattern such as */5 * * * *; ' +
        'default: never'
    })
  ),
  PAY_SCHEDULE_TIMEZONE: Type.String({
    default: 'UTC',
    minLength: 1,
    description: 'Time zone of the schedule, such as Europe/Oslo'
  }),
  PAY_WEBHOOKS_ENABLED: Type.Boolean({
    default: false,
    description:
      'Accepts signed events of the payment provider at /admin/accounts/webhooks/:shop_id. Each shop needs a ' +
      'signing secret'
  }),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description: 'URL of a PostgreSQL database, version 15 or later; default: an embedded database in DATA_DIR'
    })
  ),
  DATABASE_READ_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description: 'URL of a standby of DATABASE_URL, for lists and exports of records; default: the primary'
    })
  ),
  PGPASSWORD: Type.Optional(
    Type.String({ description: 'Password for DATABASE_URL and DATABASE_READ_URL, where they have none' })
  ),
  DATABASE_NAMED_STATEMENTS: Type.Boolean({
    default: true,
    description:
      'Plans frequent statements once per connection; set false behind a transaction pooler without support for ' +
      'it, such as PgBouncer before 1.21'
  }),
  DATA_DIR: Type.String({
    default: '.data',
    minLength: 1,
    description: 'Directory of the embedded database; relative paths start at the root of the repository'
  }),
  MIGRATE_ON_START: Type.Boolean({ default: true, description: 'Runs pending migrations at startup' }),
  LOG_LEVEL: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    description: 'Minimum log level'
  }),
  TRUST_PROXY: Type.String({
    default: '',
    pattern: '^(\\d{1,2}|[0-9a-zA-Z.:/]+(\\s*,\\s*[0-9a-zA-Z.:/]+)*)?$',
    description:
      'Proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted: their number, or addresses or networks, ' +
      'separated by commas; default: none'
  }),
  CORS_ORIGINS: List({
    default: '',
    pattern: '^(https?://[^/,\\s]+(\\s*,\\s*https?://[^/,\\s]+)*)?$',
    description:
      'Origins that may call the server from a browser, separated by commas; http://localhost:* allows every port'
  }),
  REDIS_URL: Type.Optional(
    Type.String({
      pattern: '^rediss?://',
      description: 'URL of the Redis in which replicas share rate limits; default: each counts alone'
    })
  ),
  RATE_LIMIT_MAX: Type.Integer({
    default: 600,
    minimum: 1,
    description: 'Calls per window for an API key, person or machine'
  }),
  RATE_LIMIT_ANONYMOUS_MAX: Type.Integer({
    default: 300,
    minimum: 1,
    description: 'Calls per window without a credential, for an IP address'
  }),
  RATE_LIMIT_REFUSED_MAX: Type.Integer({
    default: 60,
    minimum: 1,
    description:
      'Invalid credentials per window for an IP address; then its API keys are rejected until the window ends, ' +
      'except those accepted in the last 24 hours'
  }),
  RATE_LIMIT_WINDOW: Type.Integer({
    default: 60_000,
    minimum: 1000,
    maximum: 3_600_000,
    description: 'Window of all rate limits, in milliseconds'
  }),
  MAX_CONCURRENT_CALLS: Type.Integer({
    default: 8,
    minimum: 1,
    description: 'Concurrent calls of a person, a machine, or all API keys of a shop; further calls wait'
  }),
  QUOTA_RECORDS: Type.Integer({
    default: 1_000_000,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Maximum records of a shop: products, categories, tags, attributes, accounts, orders and prices'
  }),
  QUOTA_BYTES: Type.Integer({
    default: 4_294_967_296,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Maximum size of all records of a shop, in bytes of JSON'
  }),
  HISTORY_DAYS: Type.Integer({
    default: 90,
    minimum: 1,
    maximum: 36_500,
    description:
      'How long changes of records, counts of calls, failed calls, imports and runs that people started are ' +
      'kept, in days; changes of keys, members, settings, shops and people are kept forever'
  }),
  FAILED_CALLS_KEPT: Type.Integer({
    default: 20,
    minimum: 0,
    maximum: 100,
    description:
      'Failed tool calls to keep of each API key, with redacted arguments and answers, for HISTORY_DAYS; at ' +
      'most 1,000 of a shop. 0 keeps none'
  }),
  MAX_EVENT_LOOP_DELAY: Type.Integer({
    default: 1000,
    minimum: 0,
    description: 'Event loop delay above which calls get 503, in milliseconds; 0 disables this'
  }),
  SHUTDOWN_DELAY: Type.Integer({
    default: 5000,
    minimum: 0,
    maximum: 300_000,
    description: 'How long the server keeps serving after SIGTERM while /readyz returns 503, in milliseconds'
  }),
  METRICS_TOKEN: List({
    default: '',
    pattern: `^$|^${TOKEN}(,${TOKEN})*$`,
    description: 'Bearer tokens for /metrics, separated by commas; at least 16 characters each; default: no /metrics'
  }),
  ALLOW_INSECURE: List({
    default: '',
    pattern: someRisks(),
    description: `Insecure settings to allow in production, separated by commas: ${RISKS.join(', ')}`
  })
})

/** The source of a regular expression for {@link RISKS}, separated by commas. */
function someRisks (): string {
  const risk = oneOf(RISKS)
  return `^(${risk}(\\s*,\\s*${risk})*)?$`
}

function oneOf (names: readonly string[]): string {
  return `(${names.join('|')})`
}

/** The settings of the server. */
export type Settings = Readonly<Static<typeof Schema>>

/** Every setting by name, with its default and description. */
export const settings: Readonly<Record<string, { readonly default?: unknown, readonly description?: string }>> =
  Schema.properties

/**
 * Reads the settings.
 *
 * @param environment - names and strings, as in `process.env`
 * @param defaults - replace the defaults of the schema
 * @param risksIn - returns further reasons to refuse the settings. If some settings are invalid, it gets them as
 *   strings
 * @throws {@link SHOP_SETTINGS} that lists every invalid setting
 */
export function settingsFromEnvironment (
  environment: NodeJS.ProcessEnv,
  defaults: Readonly<Record<string, unknown>> = {},
  risksIn: (given: Readonly<Record<string, unknown>>) => readonly string[] = () => []
): Settings {
  return read(Schema, environment, defaults, risksIn)
}

const ForDatabase = Type.Pick(Schema, [
  'DATABASE_URL',
  'PGPASSWORD',
  'DATABASE_NAMED_STATEMENTS',
  'DATA_DIR',
  'ALLOW_INSECURE'
])
const ForSeed = Type.Pick(Schema, [
  'DATABASE_URL',
  'PGPASSWORD',
  'DATABASE_NAMED_STATEMENTS',
  'DATA_DIR',
  'PAY_KEY_SECRETS'
])

/** The settings of the commands that only need the database. For `risksIn`, see {@link settingsFromEnvironment}. */
export const databaseSettings = (
  environment: NodeJS.ProcessEnv,
  risksIn?: (given: Readonly<Record<string, unknown>>) => readonly string[]
): Static<typeof ForDatabase> => read(ForDatabase, environment, {}, risksIn)

/** The settings of the seed, which also encrypts payment keys. */
export const seedSettings = (environment: NodeJS.ProcessEnv): Static<typeof ForSeed> => read(ForSeed, environment)

function read<S extends TObject> (
  schema: S,
  environment: NodeJS.ProcessEnv,
  defaults: Readonly<Record<string, unknown>> = {},
  risksIn: (config: Readonly<Record<string, unknown>>) => readonly string[] = () => []
): Static<S> {
  const { given: texts, wrong } = givenIn(environment, Object.keys(schema.properties))
  const given = { ...defaults, ...texts }
  const { config, malformed } = parse(schema, given)
  const named = malformed.filter(([name]) => !wrong.has(name))
  const wellFormed = Object.keys(schema.properties).filter((name) =>
    !wrong.has(name) && malformed.every(([malformed]) => malformed !== name)
  )
  const mistakes = [
    ...named.map(([name, message]) => `${name} ${message}`),
    ...wrong.values(),
    ...mistakesIn(Object.fromEntries(wellFormed.map((name) => [name, given[name]]))),
    ...risksIn(config)
  ]
  if (mistakes.length > 0) throw new SHOP_SETTINGS(mistakes.map((mistake) => `  ${mistake}`).join('\n'))
  return config
}

/** The settings as values, or as strings if one of them is malformed. */
function parse (
  schema: TObject,
  given: Readonly<Record<string, unknown>>
): { config: Readonly<Record<string, unknown>>, malformed: ReadonlyArray<readonly [name: string, message: string]> } {
  try {
    const config = envSchema<EnvSchemaData>({ schema, data: given, env: false })
    const lists = Object.entries(config).filter(([, value]) => Array.isArray(value)).map((
      [name, items]
    ) => [name, itemsOf(items)])
    return {
      config: Object.freeze({
        ...config,
        ...Object.fromEntries(lists),
        DATA_DIR: dataDirFrom(String(config['DATA_DIR']))
      }),
      malformed: []
    }
  } catch (error) {
    const { errors = [] } = error as { errors?: readonly Fault[] }
    const defaults = Object.fromEntries(
      Object.entries(schema.properties).map(([name, { default: value }]) => [name, value])
    )
    return {
      config: { ...defaults, ...given },
      malformed: errors.map((fault) => {
        const name = fault.params.missingProperty ?? fault.instancePath.slice(1)
        const { description = '', pattern = '' }: { readonly description?: string, readonly pattern?: string } =
          schema.properties[name] ?? {}
        return [
          name,
          complaintAbout(
            fault,
            valueOf(name, given),
            description + (pattern.endsWith(SECRETS) ? `. For example: ${name}=${EXAMPLE}` : '')
          )
        ]
      })
    }
  }
}

interface Fault {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: {
    readonly allowedValues?: readonly unknown[],
    readonly type?: unknown,
    readonly missingProperty?: string
  }
}

/** The value, unless it is or may contain a secret, as a URL with a user does. */
function valueOf (name: string, given: Readonly<Record<string, unknown>>): string | undefined {
  const text = String(given[name])
  return given[name] === undefined || SECRET_SETTINGS.some((secret) => secret === name) || text.includes('@')
    ? undefined
    : excerpt(text, 100)
}

/** Ajv's messages list no values, and a pattern tells people little. */
function complaintAbout (
  { keyword, message = 'is invalid', params: { allowedValues, type } }: Fault,
  value: string | undefined,
  description: string
): string {
  const found = value === undefined ? '' : `, not ${value}`
  if (allowedValues !== undefined) return `must be one of ${allowedValues.join(', ')}${found}`
  if (keyword === 'type' && type === 'boolean') return `must be true or false${found}`
  if (keyword === 'type' && type === 'integer') return `must be an integer${found}`
  if (keyword === 'required') return `is required. Expected: ${description}`
  return keyword === 'pattern'
    ? `has the wrong format${value === undefined ? '' : `: ${value}`}. Expected: ${description}`
    : message
}
