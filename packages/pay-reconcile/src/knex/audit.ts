import type { Knex } from 'knex'
import { auditList, isKept } from '../lists/audit.ts'
import { sortKeyOf, whereListed } from '../lists/listed.ts'
import type { AccountStore, AuditEntry, Details } from '../types.ts'
import { instantFrom, record, recordsOf, run } from './records.ts'
import { countOf } from './sql.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface AuditRow {
  readonly id: string
  readonly at: string
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
  readonly replaced_at: string
}

/** Reads the audit trail, and its snapshots of the last days. */
export function auditTrail (knex: Knex, days: number): Required<Pick<AccountStore, 'audit' | 'replacedSnapshot' | 'deleteExpired'>> {
  const listed = auditList(days)
  const { at_gte: _from, at_lte: _to, ...fields } = listed
  const columns = record(Object.fromEntries(Object.keys(fields).map((name) => [name, sortKeyOf(listed, name)])))

  return {
    async audit ({ skip, limit, filter, sort }) {
      const { field, descending } = sort ?? { field: 'at', descending: true }
      const direction = descending ? 'desc' : 'asc'
      const matching = () => knex('pay_reconcile_audit as c').modify((query) => whereListed(query, listed, filter))
      const [rows, count] = await Promise.all([
        recordsOf<AuditRow>(knex, matching().orderByRaw(`${sortKeyOf(listed, field)} ${direction} nulls last, c.id ${direction}`).offset(skip).limit(limit).select(knex.raw(columns))),
        countOf(knex, matching())
      ])
      return { entries: rows.map(entryFrom), count }
    },

    async replacedSnapshot (auditId) {
      if (!UUID.test(auditId)) return undefined
      const [row] = await recordsOf<SnapshotRow>(knex, knex('pay_reconcile_snapshots').where('audit_id', auditId).whereRaw(isKept(days)).select(knex.raw(record({
        audit_id: 'audit_id', account_id: 'account_id', customer_id: 'customer_id', customer: 'customer', replaced_at: 'replaced_at'
      }))))
      return row && {
        auditId: row.audit_id,
        accountId: row.account_id,
        customerId: row.customer_id,
        customer: row.customer,
        replacedAt: instantFrom(row.replaced_at)
      }
    },

    async deleteExpired () {
      await run(knex, knex('pay_reconcile_snapshots').whereRaw(`not ${isKept(days)}`).delete())
    }
  }
}

const NOTHING = { pay_customer_id: null, pay_synced_at: null, snapshot_sha256: null }

function entryFrom (row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: instantFrom(row.at),
    actor: row.actor,
    action: row.action,
    accountId: row.account_id,
    shopId: row.shop_id,
    runId: row.run_id,
    before: { ...NOTHING, ...row.before },
    after: { ...NOTHING, ...row.after },
    providerRequestId: row.provider_request_id,
    requestId: row.request_id,
    snapshotKept: row.snapshot_kept
  }
}
