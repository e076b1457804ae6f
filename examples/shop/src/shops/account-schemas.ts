import { Type } from '@sinclair/typebox'
import { payStringIn } from 'pay-reconcile/knex'
import { recordSchemas } from '../records/schemas.ts'
import { Name, Nullable } from '../http/schemas.ts'
import { type Filter, search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const HashName = Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'A pseudonym' }))
/** How large `details` may be as JSON, in bytes. The database holds them to it as well. */
export const MAX_DETAILS = 64 * 1024

const Details = Type.Record(Type.String(), Type.Unknown(), {
  description: `Any JSON object, of at most ${MAX_DETAILS / 1024} KiB. The keys pay_customer_id, pay_customer, ` +
    'pay_customer_before_deletion and pay_synced_at are written by the payment routes only'
})

export const { Input: AccountInput, Changes: AccountChanges, Record: Account } = recordSchemas({
  name: Name,
  hash_name: HashName,
  details: Details
}, { required: ['name'] })

const missingPay: Filter = {
  schema: Type.Boolean({
    description: 'true: only accounts without a customer at the payment provider; false: only accounts with one'
  }),
  apply: (query, missing: boolean) => {
    query.whereRaw(`${payStringIn('details', 'pay_customer_id')} is ${missing ? 'null' : 'not null'}`)
  }
}

/** What a search for an account looks into. */
export const ACCOUNT_TEXTS = ['name', 'hash_name', { name: 'details.email', sql: "details->>'email'" }] as const

export const list = listRules(Account, {
  sort: 'name',
  filters: { q: search(ACCOUNT_TEXTS), missing_pay: missingPay }
})
