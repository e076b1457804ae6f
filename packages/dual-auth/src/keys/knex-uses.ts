import type { Knex } from 'knex'
import type { TableNames } from './names.ts'
import { integer, recordFromRow, RECORD, rowsOf, selected, strings, text } from './record-row.ts'
import { KNOWN_NETWORKS, type KeyNotice, type KeyUse, type NotableUse } from './store.ts'
import { committed } from './transaction.ts'

/*
 * Statements that report an event once, however many replicas run them: each marks the row as reported, and returns the
 * rows that it marked.
 */

/** The statements, for one table. */
export interface Uses {
  touch(uses: readonly KeyUse[], at: Date, unlessAfter: Date): Promise<readonly NotableUse[]>
  takeNotices(at: Date, limit: number): Promise<readonly KeyNotice[]>
}

export function createUses (knex: Knex, names: TableNames): Uses {
  const { touch, expiring, unused } = statementsFor(names)

  return {
    async touch (uses, at, unlessAfter) {
      const rows = rowsOf(await committed(knex, async (trx) => trx.raw(touch, [JSON.stringify(uses), unlessAfter, at])))
      return rows
        .map((row) => ({
          key: recordFromRow(row),
          isFirst: text(row, 'is_first') === 'true',
          newNetworks: strings(row, 'new_networks')
        }))
        .filter(({ isFirst, newNetworks }) => isFirst || newNetworks.length > 0)
    },
    async takeNotices (at, limit) {
      // Read before the commit: a row that cannot be read leaves none reported that nobody is told of.
      return committed(knex, async (trx) => {
        const take = async (
          type: KeyNotice['type'],
          statement: string,
          bindings: readonly Knex.RawBinding[]
        ): Promise<KeyNotice[]> =>
          rowsOf(await trx.raw(statement, bindings)).map((row) => ({
            type,
            key: recordFromRow(row),
            days: integer(row, 'days')
          }))
        return [
          ...await take('expiring', expiring, [at, at, limit]),
          ...await take('unused', unused, [at, at, limit, at])
        ]
      })
    }
  }
}

/**
 * Rows are locked in one order, so that two replicas do not wait for each other. Days have 24 hours: those of the
 * session's time zone may have 23 or 25.
 */
function statementsFor (names: TableNames): Readonly<Record<'touch' | 'expiring' | 'unused', string>> {
  const table = names.quotedTable
  const returned = selected(names, RECORD, 'api_keys')
  return {
    touch: `
      with used as (
        select * from jsonb_to_recordset(?::jsonb) as used (id uuid, networks text[])
      ), before as (
        select known.id, known.last_used_at, known.networks, used.networks as used_networks,
          array(select network from unnest(used.networks) network where network <> all (known.networks)) as new_networks
        from ${table} known join used on used.id = known.id
        where known.revoked_at is null
          and (known.last_used_at is null or known.last_used_at < ? or not used.networks <@ known.networks)
        order by known.id for update of known
      )
      update ${table} as api_keys set
        last_used_at = ?,
        last_used_network = coalesce(before.used_networks[cardinality(before.used_networks)],
          api_keys.last_used_network),
        networks = (before.new_networks || before.networks)[1:${KNOWN_NETWORKS}]
      from before where api_keys.id = before.id
      returning ${returned}, (before.last_used_at is null)::text as isfirst,
        array_to_json(
          case when cardinality(before.networks) > 0 then before.new_networks else '{}' end
        )::text as newnetworks`,
    expiring: `
      with due as (
        select id, days.days from ${table} as api_keys cross join lateral (
          select days from (values (1), (7), (30)) as steps (days)
          where expires_at <= ?::timestamptz + make_interval(hours => 24 * days)
            and created_at < expires_at - make_interval(hours => 24 * days)
          order by days limit 1
        ) days
        where revoked_at is null and replaced_by is null and expires_at > ?
          and (expiry_notice is null or expiry_notice > days.days)
        order by expires_at limit ? for update of api_keys skip locked
      )
      update ${table} as api_keys set expiry_notice = due.days from due where api_keys.id = due.id
      returning ${returned}, due.days::text as days`,
    unused: `
      with due as (
        select id from ${table} as api_keys
        where revoked_at is null and replaced_by is null and (expires_at is null or expires_at > ?)
          and coalesce(last_used_at, created_at) <= ?::timestamptz - make_interval(hours => 24 * 90)
          and (unused_notice_at is null or unused_notice_at < last_used_at)
        order by created_at limit ? for update skip locked
      )
      update ${table} as api_keys set unused_notice_at = ? from due where api_keys.id = due.id
      returning ${returned}, '90' as days`
  }
}
