import { arrayOf, BOOLEAN, FUNCTION, integer, isFilled, oneOf, type Table } from '#shared/option-table'
import { isObject } from '../schema/json-schema.ts'
import type { ToJsonSchema } from '../schema/reader.ts'
import type { ImpliedArguments } from '../tool/implied.ts'
import { LARGE_TAG } from '../tool/tags.ts'
import type { OutputDetail } from '../tool/trim.ts'

/** What is a tool, and what clients see of the tools. */
export interface ToolOptions {
  /** The tag in `schema.tags` that makes a route a tool. Default is `mcp`. */
  readonly exposedTag?: string
  /**
   * How much of the output schemas is published: `'full'`, `'brief'` (names and types without explanations) or `false`
   * (nothing). A route's `config.mcp.output` takes precedence. Results are not changed. Default is `'full'`.
   */
  readonly output?: OutputDetail
  /**
   * Converts a schema that is no JSON Schema and cannot convert itself, such as one of Zod 3, as the `transform` of
   * @fastify/swagger does: `(schema) => schema instanceof z.ZodType ? zodToJsonSchema(schema) : undefined`. Called for
   *   each schema of a route with `{ io: 'input' | 'output' }`; undefined leaves it as it is. The route goes on
   *   validating with its own. Default is none.
   */
  readonly toJsonSchema?: ToJsonSchema
  /**
   * Set it if the app's custom serializer checks that responses match their schemas. Otherwise tools of routes with a
   * custom serializer have no output schema. Default is false.
   */
  readonly trustSerializer?: boolean
  /**
   * Whether the app parses JSON in query strings before validation, for example in a `preValidation` hook. Query
   * arguments may then be objects, even if the `querystringParser` reads none. Default is false.
   */
  readonly jsonQuery?: boolean
  /**
   * Functions that supply arguments from the caller's request, by the arguments' names, such as the shop of an API key:
   * `{ shop_id: (request) => request.identity?.ownerId }`. If the function returns a value, the caller may leave the
   * argument out; a value that the caller passes takes precedence. Only required arguments of the path, the query
   * string and headers are supplied, never a part of the body. Default is none.
   */
  readonly impliedArguments?: ImpliedArguments
  /**
   * Names of arguments that clients add to calls for themselves. A tool that has no such argument ignores it instead of
   * rejecting the call. `random_string` is ignored only by tools without arguments. Default is task_progress (Cline),
   * wait_for_previous (Gemini CLI) and random_string (Cursor).
   */
  readonly ignoredArguments?: readonly string[]
  /** How long a client of revision 2026-07-28 may keep the list, in milliseconds. Default is 300,000. */
  readonly cacheTtl?: number
  /**
   * Whether a shared cache may serve the list, and the server's description of itself, to other clients of revision
   * 2026-07-28. Use `public` only if everybody may reach the endpoint and gets the same answers: not with `canUse`,
   * `impliedArguments`, or `instructions` as a function. Default is `private`.
   */
  readonly cacheScope?: 'public' | 'private'
}

/** These options, read and checked. */
export interface ToolSettings extends Required<Omit<ToolOptions, 'toJsonSchema'>> {
  readonly toJsonSchema: ToolOptions['toJsonSchema']
}

/** @internal */
export const TOOLS: Table<ToolSettings> = {
  exposedTag: {
    holds: (tag) => isFilled(tag) && tag !== LARGE_TAG,
    rule: `must be a non-empty string other than ${LARGE_TAG}`,
    default: 'mcp'
  },
  output: { ...oneOf('full', 'brief', false), default: 'full' },
  toJsonSchema: FUNCTION,
  trustSerializer: { ...BOOLEAN, default: false },
  jsonQuery: { ...BOOLEAN, default: false },
  impliedArguments: {
    holds: (implied) => isObject(implied) && Object.values(implied).every(FUNCTION.holds),
    rule: 'must be an object of functions',
    default: {}
  },
  ignoredArguments: {
    ...arrayOf(isFilled, 'argument names'),
    default: ['task_progress', 'wait_for_previous', 'random_string']
  },
  cacheTtl: { ...integer(0), default: 300_000 },
  cacheScope: { ...oneOf('private', 'public'), default: 'private' }
}
