import type { ItemBody } from '../admin/run-schemas.ts'
import { cell } from '../csv/items.ts'

/** @param oneShop - whether the table is about one shop. */
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

function shown (value: unknown): string {
  return value === undefined ? '(none)' : cell(value)
}
