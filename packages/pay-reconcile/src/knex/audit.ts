import type { Knex } from 'knex'
import { auditList, isKept } from '../lists/audit.ts'
import { sortKeyOf, whereListed } from '../lists/listed.ts'
import { camelCased } from '../names.ts'
import type { AccountStore, AuditEntry, ReplacedSnapshot } from '../types.ts'
import { instantFrom, record, recordsOf, run, countOf } from './records.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What is read of the audit trail. */
interface TrailOptions {
  readonly registration: string
  /** Checks whose it is, once. */
  readonly registered: () => Promise<void>
  /** For how long replaced snapshots are kept. */
  readonly days: number
}

type Trail = Required<Pick<AccountStore, 'audit' | 'replacedSnapshot' | 'deleteExpired'>>

/** Reads the audit trail of a registration, and its snapshots of the last days. */
export function auditTrail (knex: Knex, { registration, registered, days }: TrailOptions): Trail {
  const listed = auditList(days)
  const { at_gte: _from, at_lte: _to, ...fields } = listed
  const columns = record(
    Object.fromEntries(Object.keys(fields).map((name) => [camelCased(name), sortKeyOf(listed, name)]))
  )

  return {
    async audit ({ skip, limit, filter, sort }) {
      await registered()
      const { field, descending } = sort ?? { field: 'at', descending: true }
      const direction = descending ? 'desc' : 'asc'
      const matching = () =>
        knex('pay_reconcile_audit as c').where('c.registration', registration)
          .modify((query) => whereListed(query, listed, filter))
      const [rows, count] = await Promise.all([
        recordsOf<AuditEntry>(
          knex,
          matching().orderByRaw(`${sortKeyOf(listed, field)} ${direction} nulls last, c.id ${direction}`).offset(skip)
            .limit(limit).select(knex.raw(columns))
        ),
        countOf(knex, matching())
      ])
      return { entries: rows.map(entryFrom), count }
    },

    async replacedSnapshot (auditId) {
      if (!UUID.test(auditId)) return undefined
      await registered()
      const [row] = await recordsOf<ReplacedSnapshot>(
        knex,
        knex('pay_reconcile_snapshots').where({ audit_id: auditId, registration }).whereRaw(isKept(days)).select(
          knex.raw(record({
            auditId: 'audit_id',
            accountId: 'account_id',
            customerId: 'customer_id',
            customer: 'customer',
            replacedAt: 'replaced_at'
          }))
        )
      )
      return row && { ...row, replacedAt: instantFrom(row.replacedAt) }
    },

    async deleteExpired () {
      await registered()
      await run(knex, knex('pay_reconcile_snapshots').where({ registration }).whereRaw(`not ${isKept(days)}`).delete())
    }
  }
}

const NOTHING = { pay_customer_id: null, pay_synced_at: null, snapshot_sha256: null }

function entryFrom (row: AuditEntry): AuditEntry {
  return { ...row, at: instantFrom(row.at), before: { ...NOTHING, ...row.before }, after: { ...NOTHING, ...row.after } }
}
