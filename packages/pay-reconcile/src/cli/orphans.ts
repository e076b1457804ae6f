import type { Static } from '@sinclair/typebox'
import type { OrphansSchema } from '../admin/orphan-routes.ts'
import type { Listing } from './records.ts'

/** A page of customers without an account in the server's response. */
export type OrphansBody = Static<typeof OrphansSchema>
type OrphanBody = OrphansBody['orphans'][number]

/** How they are shown: one line for each account that a customer may belong to. */
export function orphanListing (pages: Listing<OrphanBody>['pages']): Listing<OrphanBody> {
  return {
    pages,
    head: ['customer', 'name', 'email', 'may belong to'],
    lines: ({ pay_customer_id: id, name, email, accounts }) => {
      const matches = accounts.map((account) => `${account.account_id} by ${account.match}: ${account.account_name}${account.pay_customer_id === null ? '' : ` (has ${account.pay_customer_id})`}`)
      return (matches.length > 0 ? matches : ['']).map((match, index) => [...(index === 0 ? [id, name ?? '', email ?? ''] : ['', '', '']), match])
    },
    csv: {
      head: ['pay_customer_id', 'name', 'email', 'account_id', 'account_name', 'match', 'account_pay_customer_id'],
      lines: ({ pay_customer_id: id, name, email, accounts }) => {
        const matches = accounts.map((account) => [account.account_id, account.account_name, account.match, account.pay_customer_id ?? ''])
        return (matches.length > 0 ? matches : [['', '', '', '']]).map((match) => [id, name ?? '', email ?? '', ...match])
      }
    }
  }
}
