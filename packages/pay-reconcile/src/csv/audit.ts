import type { AuditBody } from '../admin/audit-schemas.ts'
import type { CsvTable } from './csv.ts'

/** Changes of accounts. */
export const auditTable: CsvTable<AuditBody> = {
  head: [
    'id', 'at', 'actor', 'action', 'account_id', 'shop_id', 'run_id', 'pay_customer_id_before', 'pay_customer_id_after', 'pay_synced_at_before',
    'pay_synced_at_after', 'snapshot_sha256_before', 'snapshot_sha256_after', 'provider_request_id', 'request_id', 'snapshot_kept'
  ],
  lines: ({ before, after, ...entry }) => [[
    entry.id, entry.at, entry.actor, entry.action, entry.account_id, entry.shop_id, entry.run_id,
    before.pay_customer_id, after.pay_customer_id, before.pay_synced_at, after.pay_synced_at, before.snapshot_sha256, after.snapshot_sha256,
    entry.provider_request_id, entry.request_id, String(entry.snapshot_kept)
  ].map((cell) => cell ?? '')]
}
