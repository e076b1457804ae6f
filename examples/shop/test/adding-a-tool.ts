import type { RouteOptions } from 'fastify'

/** A route as it was registered; its URL is kept apart, because Fastify goes on to use the same object for its twin. */
export interface SeenRoute {
  readonly url: string
  readonly route: Pick<RouteOptions, 'method' | 'schema' | 'config'>
}

/** What is looked at to see whether a step was forgotten. */
export interface Seen {
  readonly routes: readonly SeenRoute[]
  /** Names of the tools that the app has. */
  readonly tools: readonly string[]
  /** Names of the tools that the tests expect. */
  readonly expected: readonly string[]
  /** Names of the tools whose operation is not in the stored OpenAPI description as it is now. */
  readonly undescribed: readonly string[]
  /** From `mcp-from-routes contract check --json`. */
  readonly report: {
    readonly drift: { readonly ok: boolean },
    readonly version: {
      readonly checked: boolean,
      readonly ok?: boolean,
      readonly asked?: string,
      readonly given?: string
    }
  }
}

/** The steps of adding a tool, by name. CONTRIBUTING.md tells them in this order. */
export const STEPS = {
  tag: 'tag the route mcp',
  large: 'tag a list route large',
  operationId: 'give it an operationId',
  auth: 'let API keys in: the policy dual',
  version: 'raise the version, with a changeset',
  contract: 'write contract/tools.json anew',
  openapi: 'write contract/openapi.json anew',
  names: 'add the name to test/tool-names.ts'
} as const

/** The resources whose routes are tools, but for batches and files, which are for programs. */
const CATALOG = /^\/shops\/:shop_id\/(products|categories|tags|attributes)(?!\/(?:batch|export)$)(\/|$)/

/** @returns a line for each step that was forgotten, that begins with the step's name */
export function forgottenSteps (
  { routes, tools, expected, undescribed, report: { drift, version } }: Seen
): readonly string[] {
  const real = routes.filter(({ route }) => route.method !== 'HEAD' && route.method !== 'OPTIONS')
  const tagged = real.filter(({ route }) => tagsOf(route).includes('mcp'))
  const lists = tagged.filter(({ route }) =>
    route.method === 'GET' && Reflect.get(Object(route.schema?.response), 200)?.type === 'array'
  )
  const untagged = real.filter(({ url, route }) =>
    !tagsOf(route).includes('mcp') && (CATALOG.test(url) || expected.includes(route.schema?.operationId ?? ''))
  )
  const named = (step: keyof typeof STEPS, found: readonly SeenRoute[]): readonly string[] =>
    found.map(({ url, route }) => `${STEPS[step]}: ${String(route.method)} ${url}`)
  return [
    ...named('tag', untagged),
    ...named('large', lists.filter(({ route }) => !tagsOf(route).includes('large'))),
    ...named('operationId', tagged.filter(({ route }) => !route.schema?.operationId)),
    ...named('auth', tagged.filter(({ route }) => route.config?.auth !== 'dual')),
    ...version.checked && version.ok === false
      ? [`${STEPS.version}: the tools ask for ${version.asked}, and it gets ${version.given}`]
      : [],
    ...drift.ok ? [] : [`${STEPS.contract}: it does not match the app`],
    ...undescribed.map((name) => `${STEPS.openapi}: ${name}`),
    ...tools.filter((name) => !expected.includes(name)).map((name) => `${STEPS.names}: ${name}`),
    ...expected.filter((name) => !tools.includes(name)).map((name) => `${STEPS.names}: ${name} is in it, and no tool`)
  ]
}

function tagsOf ({ schema }: SeenRoute['route']): readonly string[] {
  return schema?.tags ?? []
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
}

/** The operation of a tool, as an OpenAPI description tells it; undefined when it does not. */
export function operationIn ({ paths }: Description, tool: string): object | undefined {
  return Object.values(paths).flatMap((path) => Object.values(path)).find(({ operationId }) => operationId === tool)
}
