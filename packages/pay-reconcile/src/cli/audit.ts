import type { AuditBody } from '../admin/audit-schemas.ts'
import { auditTable } from '../csv/audit.ts'
import type { Listing } from './records.ts'

/** How changes are shown: in a table when, who, what and the customer before and after; in a file everything. */
export function auditListing (pages: Listing<AuditBody>['pages']): Listing<AuditBody> {
  return {
    pages,
    head: ['when', 'by', 'what', 'account', 'customer'],
    lines: ({ at, actor, action, account_id: account, before, after }) => [[at, actor, action, account, changeOf(before.pay_customer_id, after.pay_customer_id)]],
    csv: auditTable
  }
}

function changeOf (before: string | null, after: string | null): string {
  return before === after ? before ?? '' : `${before ?? '(none)'} → ${after ?? '(none)'}`
}
