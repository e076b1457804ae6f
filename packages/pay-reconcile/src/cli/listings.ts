import type { Static } from '@sinclair/typebox'
import type { AuditBody } from '../admin/audit-schemas.ts'
import type { UnlinkedCustomersSchema } from '../admin/unlinked-routes.ts'
import type { ItemBody } from '../admin/run-schemas.ts'
import { auditTable, cell, metadataCell } from '../csv/tables.ts'
import type { Listing } from './records.ts'

/** @param oneShop - whether the table is about one shop. */
export const itemHead = (
  oneShop: boolean
): string[] => ['item', 'account', 'name', ...(oneShop ? [] : ['shop']), 'found', 'details']

/** Lines of a table: one for each difference or candidate. */
export function itemLines (item: ItemBody, oneShop: boolean): string[][] {
  const { id, account_id: account, account_name: name, shop_name: shop, outcome, differences } = item
  const cells = [
    id,
    account,
    name,
    ...(oneShop ? [] : [shop]),
    outcome === 'different' ? differences.join(', ') : outcome
  ]
  return detailsOf(item).map((details, index) => [...(index === 0 ? cells : cells.map(() => '')), details])
}

function detailsOf (
  { fields, candidates, before, after, reason, error_code: code, provider_request_id: request }: ItemBody
): readonly string[] {
  const lines = [
    ...fields.map(({ field, stored, live }) => `${field}: ${shown(stored)} → ${shown(live)}`),
    ...candidates.map(({ pay_customer_id: id, match, name, email, linked, metadata }) =>
      `${id} by ${match}: ` +
      `${[name, email, metadataCell(metadata)].filter(Boolean).join(', ')}${linked ? ' (another account has it)' : ''}`
    )
  ]
  if (lines.length > 0) return lines
  if (code !== null) return [[code, request].filter(Boolean).join('  ')]
  return [
    [before === after ? before : `${before ?? '(none)'} → ${after ?? '(none)'}`, reason].filter(Boolean).join('  ')
  ]
}

function shown (value: unknown): string {
  return value === undefined ? '(none)' : cell(value)
}

/** How changes are shown: in a table when, who, what and the customer before and after; in a file everything. */
export function auditListing (pages: Listing<AuditBody>['pages']): Listing<AuditBody> {
  return {
    pages,
    head: ['when', 'by', 'what', 'account', 'customer'],
    lines: (
      { at, actor, action, account_id: account, before, after }
    ) => [[at, actor, action, account, changeOf(before.pay_customer_id, after.pay_customer_id)]],
    csv: auditTable
  }
}

function changeOf (before: string | null, after: string | null): string {
  return before === after ? before ?? '' : `${before ?? '(none)'} → ${after ?? '(none)'}`
}

/** A page of unlinked customers in the server's response. */
export type UnlinkedCustomersBody = Static<typeof UnlinkedCustomersSchema>
type UnlinkedCustomerBody = UnlinkedCustomersBody['customers'][number]

/** How they are shown: one line for each account that a customer may belong to. */
export function unlinkedListing (pages: Listing<UnlinkedCustomerBody>['pages']): Listing<UnlinkedCustomerBody> {
  return {
    pages,
    head: ['customer', 'name', 'email', 'metadata', 'may belong to'],
    lines: ({ pay_customer_id: id, name, email, metadata, accounts }) => {
      const matches = accounts.map((account) =>
        `${account.account_id} by ${account.match}: ` +
        `${account.account_name}${account.pay_customer_id === null ? '' : ` (has ${account.pay_customer_id})`}`
      )
      return (matches.length > 0 ? matches : ['']).map((
        match,
        index
      ) => [...(index === 0 ? [id, name ?? '', email ?? '', metadataCell(metadata)] : ['', '', '', '']), match])
    },
    csv: {
      head: [
        'pay_customer_id',
        'name',
        'email',
        'account_id',
        'account_name',
        'match',
        'account_pay_customer_id',
        'metadata'
      ],
      lines: ({ pay_customer_id: id, name, email, metadata, accounts }) => {
        const matches = accounts.map((
          account
        ) => [account.account_id, account.account_name, account.match, account.pay_customer_id ?? ''])
        return (matches.length > 0 ? matches : [['', '', '', '']]).map((
          match
        ) => [id, name ?? '', email ?? '', ...match, metadataCell(metadata)])
      }
    }
  }
}
