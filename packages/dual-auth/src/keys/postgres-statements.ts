import { columnName, nameInRow } from './knex-rows.ts'
import type { TableNames } from './names.ts'
import { STEPS, UNUSED } from './notices-due.ts'
import { asText, POSTGRES_COLUMNS, selected, typeOf, type PostgresColumn } from './postgres-columns.ts'

/*
 * Statements on the table of keys in PostgreSQL, which name its columns `api_keys.…`.
 */

/** The id of an owner as the column stores it: hosts may change its type, and a UUID has several spellings. */
export function storedOwner ({ quotedTable, quotedOwner, ownerColumn }: TableNames): string {
  return `select (jsonb_populate_record(null::${quotedTable}, jsonb_build_object('${ownerColumn}', ?::text)))
    .${quotedOwner}::text as ownerid`
}

/** One lock for each owner, however its id is spelled. */
export function lockOwner (names: TableNames): string {
  return `select ownerid, pg_advisory_xact_lock(hashtextextended('api_keys ' || ownerid, 0))::text as locked
    from (${storedOwner(names)}) as owner`
}

/**
 * Updates rows that change the same columns. They are locked in one order, so that two replicas do not wait for each
 * other. Values are compared as they are read.
 */
export function updateRows (
  { quotedTable, ownerColumn }: TableNames,
  was: readonly PostgresColumn[],
  changed: readonly PostgresColumn[]
): string {
  const columns = [
    ...was.map((column) => `was_${nameInRow(column)} text`),
    ...changed.map((column) => `new_${nameInRow(column)} ${typeOf(column)}`)
  ]
  const isSame = was.map((column) =>
    `(${asText(column, ownerColumn)}) is not distinct from wanted.was_${nameInRow(column)}`
  )
  const set = changed.map((column) => `${columnName(column, ownerColumn)} = found.new_${nameInRow(column)}`)
  return `
    with found as (
      select wanted.* from ${quotedTable} as api_keys
        join jsonb_to_recordset(?::jsonb) as wanted (${['id uuid', ...columns].join(', ')}) on wanted.id = api_keys.id
      where ${isSame.join(' and ')}
      order by api_keys.id for update of api_keys
    )
    update ${quotedTable} as api_keys set ${set.join(', ')} from found where api_keys.id = found.id
    returning api_keys.id::text as id`
}

/**
 * The keys that a notice is due for, as `noticed` decides again. Days have 24 hours: those of the session's time
 * zone may have 23 or 25.
 */
export function selectDue ({ quotedTable, ownerColumn }: TableNames): string {
  const hours = (days: number | string) => `make_interval(hours => 24 * ${days})`
  return `
    select ${selected(POSTGRES_COLUMNS, ownerColumn)} from ${quotedTable} as api_keys
    where revoked_at is null and replaced_by is null and (expires_at is null or expires_at > :at)
      and (
        (expires_at <= :at::timestamptz + ${hours(Math.max(...STEPS))} and exists (
          select from (values ${STEPS.map((days) => `(${days})`).join(', ')}) as steps (days)
          where expires_at <= :at::timestamptz + ${hours('days')} and created_at < expires_at - ${hours('days')}
            and (expiry_notice is null or expiry_notice > days)
        ))
        or (coalesce(last_used_at, created_at) <= :at::timestamptz - ${hours(UNUSED)}
          and (unused_notice_at is null or unused_notice_at < last_used_at))
      )
    order by expires_at, created_at limit :limit`
}
