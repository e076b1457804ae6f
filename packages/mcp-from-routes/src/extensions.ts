import { check } from './checks.ts'
import { MCP_FROM_ROUTES_INVALID_CONFIG } from './errors.ts'
import type { Extension, Route } from './extension.ts'
import { isObject } from './schema/json-schema.ts'
import type { McpRouteConfig, ToolAnnotations } from './types.ts'

/** The members of `annotations`. */
const HINTS = Object.keys(
  {
    readOnlyHint: true,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: true
  } satisfies Record<keyof ToolAnnotations, true>
)

/** The keys of `config.mcp` that the core reads. */
const OWN_KEYS: readonly string[] = [
  'title',
  'description',
  'formerly',
  'annotations',
  'arguments',
  'output',
  'searchHint',
  'alwaysLoad',
  'examples',
  'loopback',
  'hijack'
]
/** What else this package reads of a route, by the import that has it: the core only names it. */
const IMPORTS: Readonly<Record<string, string>> = {
  confirm: 'confirm',
  task: 'tasks',
  fields: 'fields',
  resource: 'resources',
  view: 'views',
  visibility: 'views'
}
const TAGS: Readonly<Record<string, string>> = { 'mcp-resource': 'resources' }

/**
 * The order in which extensions see a route, whatever that of the option: those that decide whether it is published,
 * those that say what its calls are, and those that build on them. docs/internals.md says what else a new one needs.
 */
const ORDER: readonly string[] = [
  'review',
  'tasks',
  'fields',
  'confirm',
  'resources',
  'views',
  'skills',
  'sets',
  'search',
  'card',
  'telemetry'
]

/**
 * The extensions with those that they need, in their order.
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}
 */
export function allExtensions (extensions: unknown = []): readonly Extension[] {
  check(
    Array.isArray(extensions) && extensions.every(isExtension),
    'extensions',
    "must be an array of what functions such as confirm() of 'mcp-from-routes/confirm' return"
  )
  const given = extensions as readonly Extension[]
  const all = new Map<string, Extension>()
  for (const extension of given) {
    check(!all.has(extension.name), 'extensions', `has ${extension.name} twice`)
    all.set(extension.name, extension)
  }
  for (const { needs = [] } of given) for (const need of needs) if (!all.has(need.name)) all.set(need.name, need)
  return [...all.values()].sort((a, b) => rankOf(a) - rankOf(b))
}

function isExtension (value: unknown): value is Extension {
  return isObject(value) && typeof value.name === 'string' && typeof value.install === 'function'
}

function rankOf ({ name }: Extension): number {
  const rank = ORDER.indexOf(name.replace('mcp-from-routes/', ''))
  return rank === -1 ? ORDER.length : rank
}

/** Whether a route says by itself, and not by the tag of tools, that it is to be published. */
export function wantsToBePublished ({ schema, config }: Route): boolean {
  return Reflect.get(Object(config?.mcp), 'resource') !== undefined ||
    schema?.tags?.some((tag) => Object.hasOwn(TAGS, tag)) === true
}

/**
 * Checks that somebody reads what a published route says.
 * @param label - the route as named in errors
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function checkIsRead (
  label: string,
  mcp: object,
  tags: readonly string[],
  extensions: readonly Extension[]
): void {
  const fail = (what: string, from: string | undefined, others: string): void => {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(
      label,
      from === undefined
        ? `${what} is unknown. ${others}`
        : `${what} needs an extension. Import { ${from} } from 'mcp-from-routes/${from}' and add ${from}(…) to the ` +
          'option extensions'
    )
  }
  const keys = [...OWN_KEYS, ...extensions.flatMap((extension) => extension.keys)]
  for (const key of Object.keys(mcp)) {
    const from = Object.hasOwn(IMPORTS, key) ? IMPORTS[key] : undefined
    if (!keys.includes(key)) fail(key, from, `Known: ${keys.join(', ')}`)
  }
  const { annotations = {} } = mcp as McpRouteConfig
  if (!isObject(annotations)) throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, 'annotations must be an object')
  for (const [hint, value] of Object.entries(annotations)) {
    if (!HINTS.includes(hint)) fail(`annotations.${hint}`, undefined, `Known: ${HINTS.join(', ')}`)
    if (typeof value !== 'boolean') {
      throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, `annotations.${hint} must be true or false`)
    }
  }
  for (const tag of tags) {
    const from = Object.hasOwn(TAGS, tag) ? TAGS[tag] : undefined
    if (from !== undefined && !extensions.some(({ name }) => name === `mcp-from-routes/${from}`)) {
      fail(`the tag ${tag}`, from, '')
    }
  }
}
