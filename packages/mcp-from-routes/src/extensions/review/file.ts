import { MCP_FROM_ROUTES_INVALID_REVIEW } from '../../errors.ts'
import { textFromProblems } from '../problems.ts'
import { isObject } from '../../schema/json-schema.ts'
import type { Claim, Extension } from '../../extension.ts'
import type { McpRouteConfig } from '../../types.ts'

/** What of `config.mcp` JSON can say, and a file may: how a route runs is not for it. */
export type ReviewedConfig = Omit<McpRouteConfig, 'loopback' | 'hijack'>

/** A route in the review file. What it leaves out comes from the route. */
export interface ReviewEntry extends ReviewedConfig {
  /** Method and path, as registered: `GET /users/:id`. */
  readonly route: string
  /** Whether the route is a tool, whatever its tags. */
  readonly publish: boolean
  /** The name of its tool. */
  readonly name: string
  /** For readers: written by the command, ignored at startup. */
  readonly found?: Found
}

/** What the command found out about a route. */
export interface Found {
  /** Why it cannot be a tool. */
  readonly problem?: string
  /** What may keep it from working as a tool. */
  readonly remarks?: readonly string[]
  /** The description that the route gives itself. */
  readonly description?: string
  /** What the command made up, because the route does not say it. */
  readonly guessed?: ReadonlyArray<'name' | 'description'>
  /** Its hints: read-only, destructive, idempotent. */
  readonly hints?: readonly string[]
  /** How many tokens its definition costs a model, estimated: four characters each. */
  readonly tokens?: number
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/
const HINTS: readonly string[] = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const isFlag = (value: unknown): boolean => typeof value === 'boolean'

type Rules = Readonly<Record<string, readonly [holds: (value: unknown) => boolean, rule: string]>>

/** What each field of an entry must be. The parts of `config.mcp` are checked further as those of any route. */
const FIELDS: Rules = {
  route: [isText, 'must be a method and a path, as in "GET /users/:id"'],
  publish: [isFlag, 'must be true or false'],
  name: [(value) => typeof value === 'string' && NAME.test(value), 'must have 1 to 64 letters, digits, _ or -'],
  formerly: [(value) => Array.isArray(value), 'must be an array of names'],
  title: [isText, 'must be a non-empty string'],
  description: [isText, 'must be a non-empty string'],
  searchHint: [isText, 'must be a non-empty string'],
  alwaysLoad: [isFlag, 'must be true or false'],
  annotations: [
    (value) => isObject(value) && Object.entries(value).every(([hint, is]) => HINTS.includes(hint) && isFlag(is)),
    `must have true or false for some of ${HINTS.join(', ')}`
  ],
  arguments: [isObject, 'must be an object'],
  output: [() => true, ''],
  examples: [(value) => Array.isArray(value) && value.every(isObject), 'must be an array of argument objects'],
  found: [() => true, '']
}
const REQUIRED = ['route', 'publish', 'name']

/**
 * Reads a review file.
 * @param file - its name, for errors
 * @param extensions - of the app, which may add fields
 * @throws {@link MCP_FROM_ROUTES_INVALID_REVIEW} with everything that is wrong
 */
export function entriesFromText (
  text: string,
  file: string,
  extensions: readonly Extension[]
): readonly ReviewEntry[] {
  const fields: Rules = Object.assign({}, FIELDS, ...extensions.map(({ inFiles }) => inFiles))
  const { routes } = documentFrom(text, file)
  const problems: string[] = []
  const [places, names] = [new Map<string, number>(), new Map<string, string>()]
  for (const [index, entry] of routes.entries()) {
    const label = `routes[${index}]${isObject(entry) && typeof entry.route === 'string' ? ` (${entry.route})` : ''}`
    if (!isObject(entry)) {
      problems.push(`${label} must be an object`)
      continue
    }
    const { route, publish, name } = entry
    for (const field of new Set([...REQUIRED, ...Object.keys(entry)])) {
      const [holds, rule] = (Object.hasOwn(fields, field) ? fields[field] : undefined) ??
        [() => false, `is not a field. Fields are ${Object.keys(fields).join(', ')}`]
      if (!holds(entry[field])) problems.push(`${label}.${field} ${rule}`)
    }
    const before = places.get(String(route))
    if (before !== undefined) problems.push(`${label} is the same route as routes[${before}]`)
    places.set(String(route), index)
    if (publish !== true) continue
    const other = names.get(String(name))
    if (other !== undefined) problems.push(`${label}.name is already that of ${other}: ${String(name)}`)
    names.set(String(name), String(route))
  }
  checkReview(problems, file)
  return routes as readonly ReviewEntry[]
}

/** @throws {@link MCP_FROM_ROUTES_INVALID_REVIEW} if there are any problems */
export function checkReview (problems: readonly string[], file: string): void {
  if (problems.length > 0) throw new MCP_FROM_ROUTES_INVALID_REVIEW(file, textFromProblems(problems))
}

function documentFrom (text: string, file: string): { readonly routes: readonly unknown[] } {
  let document: unknown
  try {
    // Editors on Windows put a mark before the text.
    document = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new MCP_FROM_ROUTES_INVALID_REVIEW(file, ` it is not JSON: ${(error as Error).message}`)
  }
  const isDocument = isObject(document) && document.review === 1 && Array.isArray(document.routes) &&
    Object.keys(document).length === 2
  if (!isDocument) {
    throw new MCP_FROM_ROUTES_INVALID_REVIEW(file, ' it must be { "review": 1, "routes": […] }, and nothing else')
  }
  return document as { readonly routes: readonly unknown[] }
}

/** The text of a review file: what people edit on lines of its own. */
export function textFromEntries (entries: readonly ReviewEntry[]): string {
  const texts = entries.map((entry) =>
    '    ' +
    `{\n${
      Object.entries(entry).map(([field, value]) => `      ${JSON.stringify(field)}: ${JSON.stringify(value)}`).join(
        ',\n'
      )
    }\n    ` +
    '}'
  )
  return `{\n  "review": 1,\n  "routes": [${texts.length === 0 ? '' : `\n${texts.join(',\n')}\n  `}]\n}\n`
}

/** What an entry says of its route. */
export function claimFrom (entry: ReviewEntry): Claim {
  return { tool: entry.publish, name: entry.name, config: (own) => configOf(entry, own) }
}

/**
 * The `config.mcp` of a route with what its entry says in place of it. Arguments and annotations are taken over one by
 * one: a description of one argument leaves the fixed value of another as it is.
 */
function configOf (
  { route, publish, name, found, ...config }: ReviewEntry,
  own: McpRouteConfig | undefined
): McpRouteConfig {
  return {
    ...own,
    ...config,
    ...isObject(own?.annotations) && isObject(config.annotations) &&
      { annotations: { ...own.annotations, ...config.annotations } },
    ...isObject(own?.arguments) && isObject(config.arguments) &&
      { arguments: mergedParts(own.arguments, config.arguments) }
  }
}

/**
 * Overrides one by one, then what each says: a name for an argument whose value is fixed stops startup, as in the
 * route.
 */
function mergedParts (own: object, given: object): object {
  return merged(own, given, (part, more) => merged(part, more, (override, also) => ({ ...override, ...also })))
}

function merged (own: object, given: object, both: (own: object, given: object) => object): object {
  return {
    ...own,
    ...Object.fromEntries(
      Object.entries(given).map(([key, value]) => {
        const before: unknown = Object.hasOwn(own, key) ? Reflect.get(own, key) : undefined
        return [key, isObject(before) && isObject(value) ? both(before, value) : value]
      })
    )
  }
}
