import type { Static } from '@sinclair/typebox'
import type { AuditEntrySchema } from '../admin/audit-routes.ts'
import type { Listing } from './records.ts'

/** A change of an account in the server's response. */
export type AuditBody = Static<typeof AuditEntrySchema>

/** How changes are shown: in a table when, who, what and the customer before and after; in a file everything. */
export function auditListing (pages: Listing<AuditBody>['pages']): Listing<AuditBody> {
  return {
    pages,
    head: ['when', 'by', 'what', 'account', 'customer'],
    lines: ({ at, actor, action, account_id: account, before, after }) => [[at, actor, action, account, changeOf(before.pay_customer_id, after.pay_customer_id)]],
    csvHead: [
      'id', 'at', 'actor', 'action', 'account_id', 'shop_id', 'run_id', 'pay_customer_id_before', 'pay_customer_id_after', 'pay_synced_at_before',
      'pay_synced_at_after', 'snapshot_sha256_before', 'snapshot_sha256_after', 'provider_request_id', 'request_id', 'snapshot_kept'
    ],
    csvLines: ({ before, after, ...entry }) => [[
      entry.id, entry.at, entry.actor, entry.action, entry.account_id, entry.shop_id, entry.run_id,
      before.pay_customer_id, after.pay_customer_id, before.pay_synced_at, after.pay_synced_at, before.snapshot_sha256, after.snapshot_sha256,
      entry.provider_request_id, entry.request_id, String(entry.snapshot_kept)
    ].map(cell => cell ?? '')]
  }
}

function changeOf (before: string | null, after: string | null): string {
  return before === after ? before ?? '' : `${before ?? '(none)'} → ${after ?? '(none)'}`
}
