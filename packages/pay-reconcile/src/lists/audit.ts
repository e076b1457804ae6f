import { AUDIT_ACTIONS, type AuditFilter } from '../types.ts'
import type { Listed } from './listed.ts'
import { whereId } from './spellings.ts'

/** The condition on snapshots that are kept. @param days - how long */
export function isKept (days: number): string {
  return `replaced_at > now() - interval '${days} days'`
}

/** Changes `c`. @param days - for how long replaced snapshots are kept */
export function auditList (days: number): Listed<AuditFilter> {
  return {
    id: { rule: { kind: 'uuid' }, sql: 'c.id' },
    at: { rule: { kind: 'instant' }, sql: 'c.at' },
    actor: { rule: { kind: 'string' }, sql: 'c.actor' },
    action: { rule: { kind: 'string', words: AUDIT_ACTIONS }, sql: 'c.action' },
    account_id: { rule: { kind: 'string' }, sql: 'c.account_id', where: whereId },
    shop_id: { rule: { kind: 'string' }, sql: 'c.shop_id', where: whereId },
    run_id: { rule: { kind: 'uuid', nullable: true }, sql: 'c.run_id' },
    before: { rule: { kind: 'object' }, sql: 'c.before' },
    after: { rule: { kind: 'object' }, sql: 'c.after' },
    provider_request_id: { rule: { kind: 'string', nullable: true }, sql: 'c.provider_request_id' },
    request_id: { rule: { kind: 'string', nullable: true }, sql: 'c.request_id' },
    snapshot_kept: {
      rule: { kind: 'boolean' },
      sql: `exists (select from pay_reconcile_snapshots s where s.audit_id = c.id and s.${isKept(days)})`
    },
    at_gte: { rule: { kind: 'instant' }, where: (query, time) => query.whereRaw('c.at >= ?::timestamptz', [time]) },
    // Responses have milliseconds, the column microseconds.
    at_lte: {
      rule: { kind: 'instant' },
      where: (query, time) => query.whereRaw("c.at < ?::timestamptz + interval '1 millisecond'", [time])
    }
  }
}
