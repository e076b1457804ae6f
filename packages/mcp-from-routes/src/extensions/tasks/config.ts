import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../../errors.ts'
import { isObject } from '../../schema/json-schema.ts'

/** The meaning of a status word. */
export type WorkStatus = 'working' | 'completed' | 'failed' | 'cancelled'

/** A route's `config.mcp.task`: the route starts work with a 202, and this says how to follow it. */
export interface McpRouteTask {
  /**
   * The route that returns the status of the work: `GET /imports/:id` with its prefix, or its `operationId`. The
   * `Location` of the 202 leads to it. A DELETE of the same path, if the app has one, cancels the work.
   */
  readonly status: string
  /** Whether that DELETE may be sent; set false if it deletes more than the work. Default is true. */
  readonly cancel?: boolean
  /** The route that has the result, if a 303 of the status route leads to it; in the same form. Default is none. */
  readonly result?: string
  /**
   * The field with the status in the JSON of the status route; dots lead into objects, as in `job.state`. Default is
   * `status`.
   */
  readonly field?: string
  /**
   * The meanings of the app's own status words, beside known ones such as `queued` and `done`:
   * `{ uploading: 'working' }`. Default is none.
   */
  readonly words?: Readonly<Record<string, WorkStatus>>
  /**
   * How long the work can be followed, in milliseconds from the 202, unless the 202 has `Expires`. Default is
   * 86,400,000, a day.
   */
  readonly ttl?: number
}

/** The same, checked and filled in. */
export interface TaskConfig {
  readonly status: string
  readonly cancel: boolean
  readonly result: string | undefined
  readonly field: readonly string[]
  readonly words: ReadonlyMap<string, WorkStatus>
  readonly ttl: number
}

const DAY = 86_400_000
const KEYS: ReadonlySet<string> = new Set(['status', 'cancel', 'result', 'field', 'words', 'ttl'])
const STATUSES: ReadonlySet<unknown> = new Set(['working', 'completed', 'failed', 'cancelled'])

/**
 * Reads the `config.mcp.task` of a route.
 * @param label - the route as named in errors
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function taskConfig (label: string, task: unknown): TaskConfig | undefined {
  if (task === undefined) return undefined
  const check = (holds: boolean, rule: string): void => {
    if (!holds) throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, rule)
  }
  const own = isObject(task) ? task : {}
  const { status, cancel = true, result, field = 'status', words = {}, ttl = DAY } = own
  check(
    isObject(task) && isFilled(status),
    "task must be an object with status, the route that returns the status of the work: { status: 'GET /imports/:id' }"
  )
  const unknown = Object.keys(own).find((key) => !KEYS.has(key))
  check(unknown === undefined, `task.${unknown} is not known. task has ${[...KEYS].join(', ')}`)
  check(typeof cancel === 'boolean', 'task.cancel must be a boolean')
  check(result === undefined || isFilled(result), "task.result must be a route: 'GET /imports/:id/report'")
  check(
    isFilled(field) && field.split('.').every((name) => name !== ''),
    'task.field must be the name of a field, or several with dots between them'
  )
  check(isObject(words), 'task.words must be an object')
  for (const [word, meaning] of Object.entries(words as object)) {
    check(STATUSES.has(meaning), `task.words.${word} must be one of ${[...STATUSES].join(', ')}`)
  }
  check(Number.isSafeInteger(ttl) && Number(ttl) > 0, 'task.ttl must be a positive integer, in milliseconds')
  return {
    status: status as string,
    cancel: cancel as boolean,
    result: result as string | undefined,
    field: (field as string).split('.'),
    words: new Map(
      Object.entries(words as Record<string, WorkStatus>).map(([word, meaning]) => [inOneSpelling(word), meaning])
    ),
    ttl: ttl as number
  }
}

/** `In Progress`, `in-progress`, `inProgress` and `IN_PROGRESS` are one word. */
export function inOneSpelling (word: string): string {
  return word.trim().replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase().replace(/[\s-]/g, '_')
}

function isFilled (value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
