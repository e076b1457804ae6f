import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../errors.ts'
import { isObject } from '../tool/json-schema.ts'
import { VIEW_SCHEME } from './policy.ts'

/** Who calls a tool: models, views, or both. */
export type Visibility = ReadonlyArray<'model' | 'app'>

/** `_meta.ui` of a tool. */
export interface ToolUi {
  readonly resourceUri?: string
  readonly visibility?: Visibility
}

/** A route that may be a view, as far as that is known before its schemas are read. */
interface ViewRoute {
  readonly label: string
  readonly route: { readonly config?: { readonly mcp?: { readonly resource?: unknown } } }
}

/**
 * What a tool says of its view.
 * @param label - the tool's route
 * @param mcp - its `config.mcp`
 * @param routes - all routes that are published
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function toolUi (label: string, { view, visibility }: { readonly view?: unknown, readonly visibility?: unknown }, routes: readonly ViewRoute[]): ToolUi | undefined {
  const check = (holds: boolean, problem: string): void => { if (!holds) throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, problem) }
  if (view === undefined && visibility === undefined) return undefined
  const isVisibility = visibility === undefined || (Array.isArray(visibility) && visibility.length > 0 && new Set(visibility).size === visibility.length && visibility.every((who) => who === 'model' || who === 'app'))
  check(isVisibility, 'visibility must be an array of "model" and "app"')
  if (view === undefined) return { visibility: visibility as Visibility }
  check(typeof view === 'string' && /^GET \//.test(view), 'view must be a GET route, as it was registered: \'GET /views/products\'')
  const found = routes.find((route) => route.label === view)
  check(found !== undefined, `view is ${String(view)}, and no route of that method and path is a resource. Register it after mcp-from-routes, with the tag mcp-resource and config.mcp.resource`)
  const resource = found?.route.config?.mcp?.resource
  const resourceUri = isObject(resource) ? resource.uri : undefined
  check(typeof resourceUri === 'string' && resourceUri.startsWith(VIEW_SCHEME), `view is ${String(view)}, whose resource.uri must begin with ${VIEW_SCHEME}`)
  return { resourceUri: resourceUri as string, ...visibility !== undefined && { visibility: visibility as Visibility } }
}

/**
 * Checks that tools which only views call have a view that can.
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function checkCallers (tools: ReadonlyArray<{ readonly ui: ToolUi | undefined, readonly public: { readonly route: { readonly method: string, readonly url: string } } }>): void {
  const alone = tools.find(({ ui }) => ui?.visibility?.includes('model') === false)
  if (alone === undefined || tools.some(({ ui }) => ui?.resourceUri !== undefined)) return
  const { method, url } = alone.public.route
  throw new MCP_FROM_ROUTES_INVALID_CONFIG(`${method} ${url}`, 'visibility leaves the tool to views, and no tool has a view')
}
