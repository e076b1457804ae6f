/**
 * How many levels arguments and schemas may nest. JSON.parse reads any depth, and code that recurses, like
 * JSON.stringify and validators, overflows the stack at a depth that differs between versions of Node.js.
 */
export const MAX_DEPTH = 500

/** Whether a value has more levels of arrays and objects than {@link MAX_DEPTH}. One that contains itself has. */
export function isTooDeep (value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth >= MAX_DEPTH) return true
  for (const name in value) if (isTooDeep((value as Readonly<Record<string, unknown>>)[name], depth + 1)) return true
  return false
}
