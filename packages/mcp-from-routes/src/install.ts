import type { FastifyInstance, RouteOptions } from 'fastify'
import { argumentReader, maxParamLengthOf, type CallTool } from './call/call.ts'
import { callerFrom } from './call/caller.ts'
import { check, withoutSlash } from './checks.ts'
import { dispatchOf } from './endpoint/dispatch.ts'
import { endpointFrom } from './endpoint/access.ts'
import { mountEndpoint } from './endpoint/endpoint.ts'
import type { Claim, Contracted, Core, Extension, Hooks } from './extension.ts'
import type { Endpoint, Part, Published, Source } from './model.ts'
import type { Settings } from './settings.ts'
import type { EarlierRoutes } from './tool/routes-so-far.ts'
import type { ClaimOf } from './tool/routes.ts'
import type { Extend } from './tool/tool.ts'
import type { McpTool } from './types.ts'

/** What the extensions of an application do, and the endpoints and routes that there will be. */
export interface Installed {
  readonly hooks: readonly Hooks[]
  readonly endpoints: readonly Endpoint[]
  /** The routes of extensions. */
  readonly routes: readonly RouteOptions[]
}

/** Installs the extensions of an application, before its routes. */
export async function install (
  app: FastifyInstance,
  settings: Settings,
  extensions: readonly Extension[],
  published: Published,
  { earlier, isListing }: { readonly earlier: EarlierRoutes, readonly isListing: boolean }
): Promise<Installed> {
  const main = { path: settings.path, option: 'the option path', holds: undefined }
  const endpoints = [endpointFrom(main, published, settings)]
  const routes: RouteOptions[] = []
  const core: Core = {
    app,
    settings,
    extensions,
    earlier,
    isListing,
    maxParamLength: maxParamLengthOf(app),
    callerOf: callerFrom(settings),
    route (route) {
      routes.push(route)
    },
    mount (given, option, holds, own) {
      const path = withoutSlash(given)
      const taken = endpoints.find((endpoint) => endpoint.path === path)
      check(taken === undefined, `${option}.path`, `is already used by ${taken?.option}: ${given}`)
      const endpoint = endpointFrom({ path, option, holds, own }, published, settings)
      endpoints.push(endpoint)
      return endpoint
    },
    read: argumentReader(app)
  }
  const hooks: Hooks[] = []
  for (const { name, tag, install } of extensions) {
    check(tag !== settings.exposedTag, 'exposedTag', `must not be ${tag}, the tag of ${name}`)
    hooks.push(await install(core))
  }
  return { hooks, endpoints, routes }
}

/** Registers the routes of the plugin. */
export function mount (
  app: FastifyInstance,
  settings: Settings,
  { hooks, endpoints, routes }: Installed,
  call: CallTool
): void {
  for (const endpoint of endpoints) {
    mountEndpoint(app, { endpoint, settings, hooks, dispatch: dispatchOf(endpoint, call, hooks, settings) })
  }
  for (const route of routes) app.route(route)
}

/** The paths of the plugin's own routes. */
export function pathsOf ({ endpoints, routes }: Installed): ReadonlySet<string> {
  return new Set(
    [...endpoints.map(({ path }) => path), ...routes.map(({ url }) => url)].flatMap((path) => [path, `${path}/`])
  )
}

/** What all extensions say of a route. */
export function claimsOf (hooks: readonly Hooks[]): ClaimOf {
  return (route, key) => Object.assign({}, ...hooks.map(({ onRoute }) => onRoute?.(route, key))) as Claim
}

/** What all extensions add to a tool. */
export function partsOf (hooks: readonly Hooks[]): Extend {
  return (source: Source) => {
    const parts: Part[] = []
    for (const { tool } of hooks) {
      const part = tool?.({ ...source, parts })
      if (part !== undefined) parts.push(part)
    }
    return parts
  }
}

/** What a contract holds of an application: what its extensions publish, and its endpoints by their paths. */
export interface ContractedApp extends Contracted {
  readonly tools: readonly object[]
  /** What each lists, and what its clients find by a search instead. */
  readonly endpoints: ReadonlyMap<string, { readonly tools: Held, readonly finds?: Held }>
}

/** The names of an endpoint's tools, or all of them. */
type Held = 'all' | readonly string[]

/** What a contract holds of an application. */
export function contracted (
  list: readonly McpTool[],
  published: Published,
  { hooks, endpoints }: Installed
): ContractedApp {
  const all = hooks.map(({ contract }) => contract?.() ?? {})
  const held = (tools: ReadonlyMap<string, unknown>): Held => tools === published.tools ? 'all' : [...tools.keys()]
  return Object.assign({}, ...all, {
    tools: [...list, ...all.flatMap(({ tools = [] }) => tools)],
    endpoints: new Map(endpoints.map(({ path, tools, own }) => [
      path,
      own === undefined ? { tools: held(tools()) } : { tools: held(own.tools()), finds: held(tools()) }
    ]))
  })
}
