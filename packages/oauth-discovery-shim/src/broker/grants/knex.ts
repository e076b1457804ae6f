import { demandPostgres, rowsOf, type Knex, tableFrom } from '../store/postgres.ts'
import type { Grant, GrantStore } from './store.ts'

/** What this store needs of knex. */
export type KnexForGrants = Knex<string | Date | null>

export interface KnexGrantStoreOptions {
  /** Name of the table, with its schema if it has one. Default `oauth_grants`. */
  readonly table?: string
}

interface Row {
  readonly id: string
  readonly client_id: string | null
  readonly client_name: string
  readonly scope: string
  readonly created_at: string
  readonly used_at: string
  readonly access_expires_at: string | null
  readonly expires_at: string
  readonly provider_token: string | null
}

const RECORD =
  `insert into ?? as stored (id, subject, client_id, client_name, scope, created_at, used_at, access_expires_at,
    expires_at, provider_token)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do update set client_id = excluded.client_id, client_name = excluded.client_name,
  scope = excluded.scope, used_at = excluded.used_at,
  access_expires_at = greatest(stored.access_expires_at, excluded.access_expires_at), expires_at = excluded.expires_at,
  provider_token = case when stored.ended_at is null then coalesce(excluded.provider_token, stored.provider_token) end`

const RENEW = 'update ?? set used_at = ?, access_expires_at = greatest(access_expires_at, ?), expires_at = ?, ' +
  'provider_token = case when ended_at is null then coalesce(?, provider_token) end where id = ?'

/** Times in milliseconds as text: what a driver makes of a date depends on the session and on the host's parsers. */
const COLUMNS = [
  'id, client_id, client_name, scope, provider_token',
  ...['created_at', 'used_at', 'access_expires_at', 'expires_at'].map((time) =>
    `(extract(epoch from ${time}) * 1000)::text as ${time}`
  )
].join()

const OTHERWISE = 'write a store of your own'

/** In milliseconds. */
const SWEEP_EVERY = 600_000

/**
 * Creates the table of {@link knexGrantStore}, for PostgreSQL, and its index. Fails if there is a table that lacks a
 * column.
 */
export async function createGrantTable (knex: KnexForGrants, options: KnexGrantStoreOptions = {}): Promise<void> {
  demandPostgres(knex, 'knexGrantStore', OTHERWISE)
  const table = tableFrom(options, 'oauth_grants', 'knexGrantStore')
  await knex.raw(
    'create table if not exists ?? (id text primary key, subject text not null, client_id text, client_name ' +
      'text not null, scope text not null, created_at timestamptz not null, used_at timestamptz not null, ' +
      'access_expires_at timestamptz, expires_at timestamptz not null, ended_at timestamptz, provider_token text)',
    [table]
  )
  await knex.raw(`select ${COLUMNS}, subject, ended_at from ?? limit 0`, [table])
  // `if not exists` would wait for a dump that runs, with all calls behind it, even if there is nothing to add.
  const index = `${table.split('.').at(-1)!}_subject`
  const found = await rowsOf<unknown, string>(
    knex,
    'select from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = to_regclass(?) and relname = ?',
    [table, index]
  )
  if (found.length === 0) await knex.raw('create index if not exists ?? on ?? (subject)', [index, table])
}

/**
 * Records grants in a PostgreSQL database, and deletes expired ones every ten minutes. Those that have ended stay as
 * long, so that a refresh under way does not bring them back.
 *
 * @see {@link createGrantTable}
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} for a knex of another database
 */
export function knexGrantStore (knex: KnexForGrants, options: KnexGrantStoreOptions = {}): GrantStore {
  demandPostgres(knex, 'knexGrantStore', OTHERWISE)
  const table = tableFrom(options, 'oauth_grants', 'knexGrantStore')
  const rows = async (sql: string, bindings: ReadonlyArray<string | Date | null>): Promise<readonly Row[]> =>
    await rowsOf<Row, string | Date | null>(knex, sql, [table, ...bindings])
  const present = async (where: string, bindings: readonly string[]): Promise<readonly Grant[]> =>
    (await rows(
      `select ${COLUMNS} from ?? as stored where ${where} and ended_at is null and expires_at > ? order by ` +
        'stored.used_at desc, id',
      [...bindings, new Date(Date.now())]
    )).map(grantFromRow)
  let sweepAt = Date.now()

  return {
    async record (
      { id, subject, clientId, clientName, scope, usedAt, accessExpiresAt, expiresAt, providerToken = null }
    ) {
      if (Date.now() >= sweepAt) {
        sweepAt = Date.now() + SWEEP_EVERY
        await rows('delete from ?? where expires_at <= ?', [new Date(Date.now())])
      }
      if (subject === undefined) await rows(RENEW, [usedAt, accessExpiresAt, expiresAt, providerToken, id])
      else {
        await rows(RECORD, [
          id,
          subject,
          clientId,
          clientName,
          scope,
          usedAt,
          usedAt,
          accessExpiresAt,
          expiresAt,
          providerToken
        ])
      }
    },
    list: async (subject) => await present('subject = ?', [subject]),
    find: async (subject, id) => (await present('subject = ? and id = ?', [subject, id]))[0],
    async end (id) {
      await rows('update ?? set ended_at = ?, provider_token = null where id = ? and ended_at is null', [
        new Date(Date.now()),
        id
      ])
    }
  }
}

function grantFromRow (row: Row): Grant {
  return {
    id: row.id,
    clientId: row.client_id,
    clientName: row.client_name,
    scope: row.scope,
    createdAt: new Date(Number(row.created_at)),
    usedAt: new Date(Number(row.used_at)),
    accessExpiresAt: row.access_expires_at === null ? null : new Date(Number(row.access_expires_at)),
    expiresAt: new Date(Number(row.expires_at)),
    providerToken: row.provider_token ?? undefined
  }
}
