/**
 * A key of details in SQL, by the rule of `details.ts`: a string that is not empty, else null. For columns of the types
 * `jsonb` and `json`.
 *
 * @param details - the column.
 */
export function payStringIn (details: string, key: 'pay_customer_id' | 'pay_synced_at'): string {
  return `(case when (${details}->'${key}')::text like '"_%"' then ${details}->>'${key}' end)`
}
