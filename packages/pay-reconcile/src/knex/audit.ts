import type { Knex } from 'knex'
import type { AccountStore, AuditEntry, AuditField, AuditFilter, AuditQuery, Details } from '../types.ts'
import { countOf, whereAny } from './sql.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface AuditRow {
  readonly id: string
  readonly at: Date | string
  readonly actor: string
  readonly action: AuditEntry['action']
  readonly account_id: string
  readonly shop_id: string
  readonly run_id: string | null
  readonly before: AuditEntry['before']
  readonly after: AuditEntry['after']
  readonly provider_request_id: string | null
  readonly request_id: string | null
  readonly snapshot_kept: boolean
}

interface SnapshotRow {
  readonly audit_id: string
  readonly account_id: string
  readonly customer_id: string | null
  readonly customer: Details
  readonly replaced_at: Date | string
}

/** Reads the audit trail, and its snapshots of the last days. */
export function auditTrail (knex: Knex, days: number): Required<Pick<AccountStore, 'audit' | 'replacedSnapshot' | 'deleteExpired'>> {
  const kept = `replaced_at > now() - interval '${days} days'`
  /** What each field is, in SQL over the change `c`; never a name from the request. */
  const fields: Readonly<Record<AuditField, string>> = {
    id: 'c.id',
    at: 'c.at',
    actor: 'c.actor',
    action: 'c.action',
    account_id: 'c.account_id',
    shop_id: 'c.shop_id',
    run_id: 'c.run_id',
    provider_request_id: 'c.provider_request_id',
    request_id: 'c.request_id',
    snapshot_kept: `exists (select from pay_reconcile_snapshots s where s.audit_id = c.id and s.${kept})`
  }

  function where (query: Knex.QueryBuilder, filter: AuditFilter): void {
    for (const [field, sql] of Object.entries(fields)) {
      const values = filter[field as AuditField]
      // Responses have milliseconds, the column microseconds.
      if (values) whereAny(query, field === 'at' ? "date_trunc('milliseconds', c.at)" : sql, values)
    }
    for (const field of ['before', 'after'] as const) {
      if (filter[field]) query.whereRaw(`c.${field} @> ?::jsonb`, [JSON.stringify(filter[field])])
    }
    if (filter.at_gte) query.whereRaw('c.at >= ?::timestamptz', [filter.at_gte])
    if (filter.at_lte) query.whereRaw("c.at < ?::timestamptz + interval '1 millisecond'", [filter.at_lte])
  }

  function orderBy (sort: AuditQuery['sort']): string {
    const { field, descending } = sort ?? { field: 'at', descending: true }
    const direction = descending ? 'desc' : 'asc'
    return `${fields[field]} ${direction} nulls last, c.id ${direction}`
  }

  return {
    async audit ({ skip, limit, filter, sort }) {
      const matching = () => knex('pay_reconcile_audit as c').modify(query => where(query, filter))
      const [rows, count] = await Promise.all([
        matching().orderByRaw(orderBy(sort)).offset(skip).limit(limit).select<AuditRow[]>('c.*', knex.raw(`${fields.snapshot_kept} as snapshot_kept`)),
        countOf(matching())
      ])
      return { entries: rows.map(entryFrom), count }
    },

    async replacedSnapshot (auditId) {
      if (!uuid.test(auditId)) return undefined
      const row = await knex<SnapshotRow>('pay_reconcile_snapshots').where('audit_id', auditId).whereRaw(kept).first()
      return row && {
        auditId: row.audit_id,
        accountId: row.account_id,
        customerId: row.customer_id,
        customer: row.customer,
        replacedAt: new Date(row.replaced_at).toISOString()
      }
    },

    async deleteExpired () {
      await knex('pay_reconcile_snapshots').whereRaw(`not ${kept}`).delete()
    }
  }
}

const nothing = { pay_customer_id: null, pay_synced_at: null, snapshot_sha256: null }

function entryFrom (row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: new Date(row.at).toISOString(),
    actor: row.actor,
    action: row.action,
    accountId: row.account_id,
    shopId: row.shop_id,
    runId: row.run_id,
    before: { ...nothing, ...row.before },
    after: { ...nothing, ...row.after },
    providerRequestId: row.provider_request_id,
    requestId: row.request_id,
    snapshotKept: row.snapshot_kept
  }
}
