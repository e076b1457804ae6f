import type { Knex } from 'knex'

/** How often a key called a tool in an hour. */
export interface KeyCount {
  readonly key_id: string
  readonly tool: string
  readonly hour: string
  readonly calls: number
  readonly errors: number
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
        as given (key_id uuid, tool text, hour timestamptz, calls integer, errors integer)
    ), ${OPEN}
    insert into key_calls as stored (shop_id, key_id, hour, tool, calls, errors)
    select shop_id, key_id, hour, tool, calls, errors from given join open on open.id = key_id
    order by shop_id, key_id, hour, tool
    on conflict (shop_id, key_id, hour, tool) do update set
      calls = stored.calls + excluded.calls, errors = stored.errors + excluded.errors`,
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

/**
 * Deletes all but the newest failed calls of each key and shop, and the clients of each key that were seen last.
 * Replicas that do so at the same time share the work.
 *
 * @param failed - how many calls are kept of a key
 * @param keys - Default: all keys
 */
export async function forgetKeyUse (knex: Knex, failed: number, keys?: readonly string[]): Promise<void> {
  const of = (table: string): Knex.QueryBuilder =>
    knex(table).modify((rows) => {
      if (keys !== undefined) rows.whereIn('shop_id', knex('api_keys').whereIn('id', [...keys]).select('shop_id'))
    })
  const rank = (by: string, time: string, id: string) =>
    knex.raw('row_number() over (partition by ?? order by ?? desc, ?? desc)', [by, time, id])
  const forget = async (table: string, ranked: Knex.QueryBuilder, id: readonly string[]): Promise<void> => {
    const old = knex(table).whereIn([...id], knex.from(ranked.as('ranked')).select([...id])).forUpdate().skipLocked()
      .select([...id])
    await knex(table).whereIn([...id], old).delete()
  }
  const call = ['shop_id', 'key_id', 'at', 'id']
  const calls = of('failed_calls').select(...call, {
    of_key: rank('key_id', 'at', 'id'),
    of_shop: rank('shop_id', 'at', 'id')
  })
  await forget(
    'failed_calls',
    knex.from(calls.as('calls')).where('of_key', '>', failed).orWhere('of_shop', '>', MOST_FAILED).select(call),
    call
  )
  const client = ['shop_id', 'key_id', 'name']
  const clients = of('key_clients').select(...client, { of_key: rank('key_id', 'last_seen_at', 'name') })
  await forget(
    'key_clients',
    knex.from(clients.as('clients')).where('of_key', '>', MOST_CLIENTS).select(client),
    client
  )
}
