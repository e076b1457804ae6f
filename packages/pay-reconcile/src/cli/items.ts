import type { Static } from '@sinclair/typebox'
import type { RunWithItemsSchema } from '../admin/run-schemas.ts'

/** An item in the server's response. */
export type ItemBody = Static<typeof RunWithItemsSchema>['items'][number]

/** @param oneShop whether the table is about one shop. */
export const itemHead = (oneShop: boolean): string[] => ['item', 'account', 'name', ...(oneShop ? [] : ['shop']), 'found', 'details']

/** Lines of a table: one for each difference or candidate. */
export function itemLines (item: ItemBody, oneShop: boolean): string[][] {
  const { id, account_id: account, account_name: name, shop_name: shop, outcome, drift } = item
  const cells = [id, account, name, ...(oneShop ? [] : [shop]), outcome === 'drifted' ? drift.join(', ') : outcome]
  return detailsOf(item).map((details, index) => [...(index === 0 ? cells : cells.map(() => '')), details])
}

function detailsOf ({ differences, candidates, before, after, reason, error_code: code, provider_request_id: request }: ItemBody): readonly string[] {
  const lines = [
    ...differences.map(({ field, stored, live }) => `${field}: ${shown(stored)} → ${shown(live)}`),
    ...candidates.map(({ pay_customer_id: id, match, name, email, linked }) =>
      `${id} by ${match}: ${[name, email].filter(Boolean).join(', ')}${linked ? ' (another account has it)' : ''}`)
  ]
  if (lines.length > 0) return lines
  if (code !== null) return [[code, request].filter(Boolean).join('  ')]
  return [[before === after ? before : `${before ?? '(none)'} → ${after ?? '(none)'}`, reason].filter(Boolean).join('  ')]
}

export const itemCsvHead = [
  'item', 'account_id', 'account_name', 'shop_id', 'shop_name', 'outcome', 'drift', 'before', 'after', 'reason', 'error_code',
  'provider_request_id', 'field', 'stored', 'live', 'candidate', 'match', 'candidate_name', 'candidate_email', 'candidate_linked'
]

/** Lines of a CSV file: one for each difference or candidate, each with all that is known of the account. */
export function itemCsvLines (item: ItemBody): string[][] {
  const common = [
    item.id, item.account_id, item.account_name, item.shop_id, item.shop_name, item.outcome, item.drift.join(' '), item.before ?? '', item.after ?? '',
    item.reason ?? '', item.error_code ?? '', item.provider_request_id ?? ''
  ]
  const none = ['', '', '', '', '']
  const lines = [
    ...item.differences.map(({ field, stored, live }) => [field, cell(stored), cell(live), ...none]),
    ...item.candidates.map(({ pay_customer_id: id, match, name, email, linked }) => ['', '', '', id, match, name ?? '', email ?? '', String(linked)])
  ]
  return (lines.length > 0 ? lines : [['', '', '', ...none]]).map(line => [...common, ...line])
}

function shown (value: unknown): string {
  return value === undefined ? '(none)' : cell(value)
}

function cell (value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}
