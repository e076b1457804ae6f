/**
 * The members of records that decide what happens, and their types. Records of a host's own store may have been typed
 * by its driver.
 */
const TYPES: Readonly<Record<string, 'string' | 'boolean' | 'object'>> = {
  id: 'string',
  shopId: 'string',
  accountId: 'string',
  details: 'object',
  changed: 'boolean',
  duplicate: 'boolean',
  changedByRun: 'boolean',
  snapshotKept: 'boolean',
  dryRun: 'boolean',
  cancelRequested: 'boolean',
  webhook: 'boolean'
}
/** Members of results that hold records. */
const HOLDERS = ['account', 'accounts', 'entries', 'runs', 'items'] as const

/**
 * Checks the records that a method of a store returned. Wrong types would be wrong answers: JSON as text reads as an
 * account without a customer, a number as id equals no id, and MySQL's `BIT(1)` is true whatever it holds.
 *
 * @throws TypeError
 */
export function assertRecords (result: unknown, method: string): void {
  if (Array.isArray(result)) {
    for (const record of result) assertRecords(record, method)
    return
  }
  if (typeof result !== 'object' || result === null) return
  for (const [name, type] of Object.entries(TYPES)) {
    const value = (result as Readonly<Record<string, unknown>>)[name]
    // Of a run, the shop may be null.
    if (value === undefined || kindOf(value) === type || (name === 'shopId' && value === null)) continue
    throw new TypeError(
      `${method} of the store returned a record whose ${name} has the type ${kindOf(value)}, and not ${type}`
    )
  }
  for (const name of HOLDERS) {
    if (name in result) assertRecords((result as Readonly<Record<string, unknown>>)[name], method)
  }
}

function kindOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
