import { attempt } from '../attempt.ts'
import { isObject } from '../tool/json-schema.ts'

const INTERNAL_ERROR = -32603
const INVALID_PARAMS = -32602
/** How many members an error names. */
const MAX_NAMED = 3

/**
 * The SDK reports members of a wrong type as JSON that lists all issues, some as an internal error. Such an error becomes
 * -32602 with a sentence.
 * @param message - an answer
 * @returns undefined for every other answer
 */
export function invalidParams (message: object): object | undefined {
  const error: unknown = Reflect.get(message, 'error')
  if (!isObject(error) || (error.code !== INTERNAL_ERROR && error.code !== INVALID_PARAMS) || typeof error.message !== 'string') return undefined
  const start = error.message.indexOf('[')
  const issues: unknown = start < 0 || error.data !== undefined ? undefined : attempt(() => JSON.parse((error.message as string).slice(start)))
  if (!Array.isArray(issues) || issues.length === 0 || !issues.every(isIssue)) return undefined
  const said = issues.slice(0, MAX_NAMED).map(({ path, message }) => `${path.join('.')}: ${message}`)
  return { ...message, error: { code: INVALID_PARAMS, message: `Invalid params: ${[...said, ...issues.length > MAX_NAMED ? ['…'] : []].join('; ')}` } }
}

function isIssue (value: unknown): value is { readonly path: readonly unknown[], readonly message: string } {
  return isObject(value) && Array.isArray(value.path) && typeof value.message === 'string'
}
