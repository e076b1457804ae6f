import type { FastifyBaseLogger } from 'fastify'
import { isProviderError } from 'pay-reconcile'
import { isAway } from '../database/errors.ts'
import type { DatabaseLog } from '../database/index.ts'
import { excerpt } from '#shared/excerpt'
import type { Settings } from '../settings/settings.ts'

/** Minimum time between two lines about the same outage, in milliseconds. */
const EVERY = 60_000

/** Level of pino: lines below it are no trouble. */
const WARN = 40

/** What the server needs, and the setting that says where it is. */
const NEEDED = {
  database: 'DATABASE_URL',
  read_replica: 'DATABASE_READ_URL',
  redis: 'REDIS_URL',
  identity_provider: 'IDP_ISSUER',
  payment_provider: 'PAY_API_URL'
} as const
export type Needed = keyof typeof NEEDED

/** The settings that say where things are. */
export type Places = Partial<Pick<Settings, typeof NEEDED[Needed]>>

/** Faults of the payment provider that are not about the request. */
const PROVIDER_AWAY: readonly string[] = ['timeout', 'unreachable', 'error', 'unavailable']

const PORTS: Readonly<Record<string, string>> = {
  'postgres:': '5432',
  'postgresql:': '5432',
  'redis:': '6379',
  'rediss:': '6379',
  'http:': '80',
  'https:': '443'
}

interface Fields {
  readonly err?: unknown
  readonly needed?: Needed
  readonly [name: string]: unknown
}

/**
 * Shortens what is logged while something is away: one line a minute for each that is, with the number of failures
 * since the last one, without stacks. An outage fails every call and every timer at once, in this code and in the
 * plugins, so it is noticed where all of them write.
 *
 * @returns for each line of level warn or above: its fields as they are, shortened, or undefined if the line is to be
 *   left out
 */
export function outages (places: Places): (fields: Fields, level: number) => Fields | undefined {
  const seen = new Map<Needed, { loggedAt: number, count: number }>()
  return (fields, level) => {
    const needed = level < WARN ? undefined : neededIn(fields, places)
    if (needed === undefined) return fields
    const last = seen.get(needed) ?? { loggedAt: -Infinity, count: 0 }
    seen.set(needed, last)
    last.count += 1
    if (performance.now() - last.loggedAt < EVERY) return undefined
    const { err, ...rest } = fields
    const shortened = { ...rest, needed, ...placeOf(needed, places), reason: reasonIn(err), failures: last.count }
    last.loggedAt = performance.now()
    last.count = 0
    return shortened
  }
}

/** A log for the database, where knex writes a line for each connection that it cannot have. */
export function databaseLog (log: FastifyBaseLogger): DatabaseLog {
  return {
    warn (message) {
      const [, reason] = /^Acquire connection error: (?:Error: )?(.*)/.exec(message) ?? []
      if (reason === undefined) log.warn(message)
      else {
        log.error({
          err: Object.assign(new Error(reason), { code: /\bE[A-Z]{4,}\b/.exec(reason)?.[0] }),
          needed: 'database'
        }, 'No connection to the database')
      }
    },
    error (message) {
      log.error(message)
    }
  }
}

/** What is away, if that is why the line is written. */
function neededIn ({ err, needed, issuer, keyId, url }: Fields, places: Places): Needed | undefined {
  if (needed !== undefined) return needed
  // A key that could not be revoked is no failure like others: somebody has to look after it.
  if (!(err instanceof Error) || keyId !== undefined) return undefined
  const { code = '', cause } = err as { code?: string, cause?: unknown }
  if (issuer !== undefined || isAt(url, places.IDP_ISSUER) || code === 'DUAL_AUTH_PROVIDER_UNAVAILABLE') {
    return 'identity_provider'
  }
  if (isProviderError(err)) return PROVIDER_AWAY.includes(err.fault) ? 'payment_provider' : undefined
  if (code === 'PAY_RECONCILE_STORE_FAILED') return neededIn({ err: cause }, places)
  return code === 'DUAL_AUTH_STORE_UNAVAILABLE' || isAway(err) ? 'database' : undefined
}

/** Whether a plugin asked there: it names the address. */
function isAt (url: unknown, issuer: string | undefined): boolean {
  return [url, issuer].every((text) => URL.canParse(String(text))) &&
    new URL(String(url)).origin === new URL(issuer!).origin
}

/** Which setting says where it is, and where that is: never a user or a password. */
export function placeOf (needed: Needed, places: Places): { readonly setting: string, readonly host?: string } {
  const setting = NEEDED[needed]
  const host = hostOf(places[setting])
  return { setting, ...host !== undefined && { host } }
}

function hostOf (url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || PORTS[protocol]}`
}

/** The reason in a few words: the innermost one. The driver's comes after the statement. */
function reasonIn (err: unknown): string {
  let error = err as Error & { readonly code?: string, readonly errors?: readonly Error[] }
  for (let inner: unknown = error; inner instanceof Error; inner = error.cause ?? error.errors?.[0]) {
    error = inner as typeof error
  }
  return excerpt([error.code, error.message.split(' - ').at(-1)].filter(Boolean).join(': '))
}
