import { deepStrictEqual } from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  recordFromNewKey,
  type ApiKeyRecord,
  type ApiKeyStore,
  type KeyPage,
  type KeyQuery,
  type NewApiKey,
  type Rotation
} from '../keys/store.ts'

/** One thing that a store must do. */
export interface Check {
  /** What it must do. */
  readonly title: string
  /** What to mend if it does not. */
  readonly mend: string
  readonly run: (use: Use) => Promise<void>
}

/** The store under test, as a check uses it. */
export interface Use {
  readonly store: ApiKeyStore
  /** The stores of several replicas, in turn: a race meets in the database, and not in one process. */
  replica(n: number): ApiKeyStore
  /** Stores a new key, of an owner of its own unless the change says which. */
  inserted(change?: Partial<NewApiKey>): Promise<NewApiKey>
  /** A page of an owner's keys; by default the first hundred, the oldest first. */
  listed(ownerId: string, query?: Partial<KeyQuery>): Promise<KeyPage>
}

export const START = new Date('2030-01-01T00:00:00.000Z')
export const after = (days: number): Date => new Date(+START + days * 86_400_000)
export const minute = (n: number): Date => new Date(+START + n * 60_000)
export const OLDEST_FIRST: KeyQuery['sort'] = { field: 'created_at', descending: false }

/** A key to store, which nobody knows. */
export const newKey = (change: Partial<NewApiKey> = {}): NewApiKey => ({
  id: randomUUID(),
  ownerId: randomUUID(),
  name: "O'Neill <b>\u{1F511}</b>",
  prefix: randomBytes(6).toString('hex'),
  scopes: ['read', 'a,b', '{"x"}'],
  fingerprint: randomBytes(32),
  pepperId: 'p1',
  hash: randomBytes(96),
  createdAt: START,
  createdBy: 'user-1',
  expiresAt: null,
  ...change
})

export const recordOf = (key: NewApiKey): ApiKeyRecord => recordFromNewKey(key)

/** A rotation that leaves the old key a day. */
export const rotation = (ownerId: string, change: Partial<NewApiKey> = {}): Rotation => ({
  successor: newKey({ ownerId, ...change }),
  expiresAt: after(1),
  revokedAt: null
})

export const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

/** What is equal, of the same type: no string is a date, and undefined is not null. */
export function same (found: unknown, wanted: unknown, what: string): void {
  deepStrictEqual(found, wanted, new Differs(what, found, wanted))
}

export function holds (condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

/** Each of these is equal. */
export function has<T extends object> (found: T | null | undefined, wanted: Partial<T>, what: string): void {
  same(Object.fromEntries(Object.keys(wanted).map((name) => [name, found?.[name as keyof T]])), wanted, what)
}

export async function rejects (promise: Promise<unknown>, error: unknown, what: string): Promise<void> {
  const found = await promise.then(() => 'nothing', (reason: unknown) => reason)
  holds(found === error, `${what}: it must reject with ${String(error)}, and did with ${String(found)}`)
}

class Differs extends Error {
  constructor (what: string, found: unknown, wanted: unknown) {
    super(`${what}: expected ${shown(wanted)}, found ${shown(found)}`)
  }
}

/** As JSON that tells a date from a string, and undefined from null. */
function shown (value: unknown): string {
  const mark = function (this: Record<string, unknown>, name: string, plain: unknown): unknown {
    const value = this[name]
    if (value instanceof Date) return `Date(${Number.isNaN(+value) ? 'invalid' : value.toISOString()})`
    if (value === undefined || typeof value === 'bigint') {
      return `<${typeof value}${value === undefined ? '' : ` ${String(value)}`}>`
    }
    return value instanceof Uint8Array ? `bytes(${Buffer.from(value).toString('hex')})` : plain
  }
  const text = JSON.stringify(value, mark)
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}
