/** The fields of a record that differ, for a PATCH. Fields that are only in the record before stay as they are. */
export function changesOf (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => value !== undefined && !same(before[name], value))
  )
}

/**
 * Whether two JSON values are equal. The order of an object's fields does not count; a missing field and undefined are
 * the same.
 */
export function same (one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (
    typeof one !== 'object' || typeof other !== 'object' || one === null || other === null ||
    Array.isArray(one) !== Array.isArray(other)
  ) return false
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) =>
    same((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name])
  )
}
