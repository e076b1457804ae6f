import type { Knex } from 'knex'
import { forgetSurplus } from '../database/portions.ts'

/** How often a key called a tool in an hour. */
export interface KeyCount {
  readonly key_id: string
  readonly tool: string
  readonly hour: string
  readonly calls: number
  readonly errors: number
  /** How long all of the calls took, and the slowest of them, in milliseconds. */
  readonly total_ms: number
  readonly slowest_ms: number
}

/** A call that failed, as `failed-call.ts` leaves it. */
export interface FailedCall {
  readonly key_id: string
  readonly at: string
  readonly tool: string
  readonly status: number | null
  readonly arguments: string
  readonly answer: string
}

/** A client that a key was used in. */
export interface KeyClient {
  readonly key_id: string
  readonly name: string
  readonly version: string
  readonly at: string
}

/** Clients that are kept of a key: those seen last. */
const MOST_CLIENTS = 5

/** Failed calls that are kept of a shop. */
const MOST_FAILED = 1000

/** Only keys that still exist, which take their shop with them. */
const OPEN =
  'open as (select id, shop_id from api_keys where id in (select key_id from given) order by id for key share)'

/** Adds counts to those of other replicas. */
export async function storeKeyCounts (knex: Knex, counts: readonly KeyCount[]): Promise<void> {
  await knex.raw(
    `
    with given as (
      select * from jsonb_to_recordset(?)
        as given (key_id uuid, tool text, hour timestamptz, calls integer, errors integer,
          total_ms bigint, slowest_ms integer)
    ), ${OPEN}
    insert into key_calls as stored (shop_id, key_id, hour, tool, calls, errors, total_ms, slowest_ms)
    select shop_id, key_id, hour, tool, calls, errors, total_ms, slowest_ms from given join open on open.id = key_id
    order by shop_id, key_id, hour, tool
    on conflict (shop_id, key_id, hour, tool) do update set
      calls = stored.calls + excluded.calls, errors = stored.errors + excluded.errors,
      total_ms = stored.total_ms + excluded.total_ms, slowest_ms = greatest(stored.slowest_ms, excluded.slowest_ms)`,
    [JSON.stringify(counts)]
  )
}

export async function storeFailedCalls (knex: Knex, calls: readonly FailedCall[]): Promise<void> {
  await knex.raw(
    `
    with given as (
      select * from jsonb_to_recordset(?)
        as given (key_id uuid, at timestamptz, tool text, status integer, arguments text, answer text)
    ), ${OPEN}
    insert into failed_calls (shop_id, key_id, at, tool, status, arguments, answer)
    select shop_id, key_id, at, tool, status, arguments, answer from given join open on open.id = key_id order by at`,
    [JSON.stringify(calls)]
  )
}

export async function storeKeyClients (knex: Knex, clients: readonly KeyClient[]): Promise<void> {
  await knex.raw(
    `
    with given as (
      select * from jsonb_to_recordset(?) as given (key_id uuid, name text, version text, at timestamptz)
    ), ${OPEN}
    insert into key_clients as stored (shop_id, key_id, name, version, first_seen_at, last_seen_at)
    select shop_id, key_id, name, version, at, at from given join open on open.id = key_id
    order by shop_id, key_id, name
    on conflict (shop_id, key_id, name) do update set
      version = excluded.version, last_seen_at = greatest(stored.last_seen_at, excluded.last_seen_at)`,
    [JSON.stringify(clients)]
  )
}

const CALL = ['shop_id', 'key_id', 'at', 'id']
const CLIENT = ['shop_id', 'key_id', 'name']

/**
 * Deletes all but the newest failed calls of each key and shop, and the clients of each key that were seen last,
 * portion by portion.
 *
 * @param failed - how many calls are kept of a key
 * @param keys - whose shops are looked at. Default: all keys
 * @param isEnough - asked between two statements
 */
export async function forgetKeyUse (
  knex: Knex,
  failed: number,
  { keys, isEnough }: { readonly keys?: readonly string[], readonly isEnough?: () => boolean } = {}
): Promise<void> {
  const rows = (query: Knex.QueryBuilder): void => {
    if (keys !== undefined) query.whereIn('shop_id', knex('api_keys').whereIn('id', [...keys]).select('shop_id'))
  }
  const ofKey = ['shop_id', 'key_id']
  const calls = { newest: ['at', 'id'], key: CALL }
  await forgetSurplus(knex, 'failed_calls', { of: ofKey, most: failed, ...calls }, rows, isEnough)
  await forgetSurplus(knex, 'failed_calls', { of: ['shop_id'], most: MOST_FAILED, ...calls }, rows, isEnough)
  const clients = { of: ofKey, most: MOST_CLIENTS, newest: ['last_seen_at', 'name'], key: CLIENT }
  await forgetSurplus(knex, 'key_clients', clients, rows, isEnough)
}
