import type { AuditBody } from '../admin/audit-schemas.ts'
import type { ItemBody } from '../admin/run-schemas.ts'
import type { CsvTable } from './csv.ts'

/** Lines of a CSV file: one for each difference or candidate, each with all that is known of the account. */
function linesOf (item: ItemBody): string[][] {
  const common = [
    item.id,
    item.account_id,
    item.account_name,
    item.shop_id,
    item.shop_name,
    item.outcome,
    item.differences.join(' '),
    item.before ?? '',
    item.after ?? '',
    item.reason ?? '',
    item.error_code ?? '',
    item.provider_request_id ?? ''
  ]
  const none = ['', '', '', '', '', '']
  const found = [
    ...item.fields.map(({ field, stored, live }) => [field, cell(stored), cell(live), ...none]),
    ...item.candidates.map((
      { pay_customer_id: id, match, name, email, linked, metadata }
    ) => ['', '', '', id, match, name ?? '', email ?? '', String(linked), metadataCell(metadata)])
  ]
  return (found.length > 0 ? found : [['', '', '', ...none]]).map((line) => [...common, ...line])
}

/** The items of a run. */
export const itemTable: CsvTable<ItemBody> = {
  head: [
    'item',
    'account_id',
    'account_name',
    'shop_id',
    'shop_name',
    'outcome',
    'differences',
    'before',
    'after',
    'reason',
    'error_code',
    'provider_request_id',
    'field',
    'stored',
    'live',
    'candidate',
    'match',
    'candidate_name',
    'candidate_email',
    'candidate_linked',
    'candidate_metadata'
  ],
  lines: linesOf
}

/** Any value as a string; values other than strings as JSON. */
export function cell (value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Metadata as JSON; empty if there are none. */
export function metadataCell (metadata: Readonly<Record<string, string>>): string {
  return Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata)
}

/** Changes of accounts. */
export const auditTable: CsvTable<AuditBody> = {
  head: [
    'id',
    'at',
    'actor',
    'action',
    'account_id',
    'shop_id',
    'run_id',
    'pay_customer_id_before',
    'pay_customer_id_after',
    'pay_synced_at_before',
    'pay_synced_at_after',
    'snapshot_sha256_before',
    'snapshot_sha256_after',
    'provider_request_id',
    'request_id',
    'snapshot_kept'
  ],
  lines: ({ before, after, ...entry }) => [[
    entry.id,
    entry.at,
    entry.actor,
    entry.action,
    entry.account_id,
    entry.shop_id,
    entry.run_id,
    before.pay_customer_id,
    after.pay_customer_id,
    before.pay_synced_at,
    after.pay_synced_at,
    before.snapshot_sha256,
    after.snapshot_sha256,
    entry.provider_request_id,
    entry.request_id,
    String(entry.snapshot_kept)
  ].map((cell) => cell ?? '')]
}
