import type { ItemBody } from '../admin/run-schemas.ts'
import type { CsvTable } from './csv.ts'

const HEAD = [
  'item', 'account_id', 'account_name', 'shop_id', 'shop_name', 'outcome', 'drift', 'before', 'after', 'reason', 'error_code',
  'provider_request_id', 'field', 'stored', 'live', 'candidate', 'match', 'candidate_name', 'candidate_email', 'candidate_linked'
]

/** Lines of a CSV file: one for each difference or candidate, each with all that is known of the account. */
function lines (item: ItemBody): string[][] {
  const common = [
    item.id, item.account_id, item.account_name, item.shop_id, item.shop_name, item.outcome, item.drift.join(' '), item.before ?? '', item.after ?? '',
    item.reason ?? '', item.error_code ?? '', item.provider_request_id ?? ''
  ]
  const none = ['', '', '', '', '']
  const found = [
    ...item.differences.map(({ field, stored, live }) => [field, cell(stored), cell(live), ...none]),
    ...item.candidates.map(({ pay_customer_id: id, match, name, email, linked }) => ['', '', '', id, match, name ?? '', email ?? '', String(linked)])
  ]
  return (found.length > 0 ? found : [['', '', '', ...none]]).map((line) => [...common, ...line])
}

/** The items of a run. */
export const itemTable: CsvTable<ItemBody> = { head: HEAD, lines }

/** Any value as a string; values other than strings as JSON. */
export function cell (value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}
