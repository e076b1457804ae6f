import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { cardPath } from '../extensions/card/card.ts'
import { checkArrivals, holdCalls, markRoute, type RouteMark } from '../call/guard.ts'
import { MCP_FROM_ROUTES_REGISTERED_LATE, MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from '../errors.ts'
import { withoutSlash } from '../checks.ts'
import type { Settings } from '../settings.ts'
import { RESOURCE_TAG } from '../extensions/resources/config.ts'
import { keyOf, type Reviewed } from '../extensions/review/reviewed.ts'
import type { KnownRoute } from '../extensions/tasks/rule.ts'
import type { SeenRoute } from './earlier.ts'
import type { Candidate } from './catalog.ts'

/** A route that is neither a tool nor a resource. */
type OtherRoute = Pick<RouteMark, 'ownerOfConfig'> & { readonly label: string }

/** The routes that were registered after the plugin. */
export interface Routes {
  readonly candidates: Candidate[]
  readonly others: OtherRoute[]
  /** Routes with a tag that differs from the right one only in case. */
  readonly nearlyTagged: string[]
  /** What a review file calls all that could become tools. */
  readonly keys: string[]
  /** All of them, for tasks. */
  readonly known: KnownRoute[]
  /** All that could become tools, for a review. */
  readonly listed: Candidate[]
  /** The route of the endpoint. */
  endpoint: RouteOptions | undefined
}

/**
 * Collects the routes during their registration, and prepares those that become tools.
 * @param reviewed - decides about the routes that it knows; the tag about all others
 * @param keepsAll - whether those that become no tools are to be listed too
 */
export function collectRoutes (
  app: FastifyInstance,
  settings: Settings,
  reviewed: Reviewed,
  keepsAll: boolean
): Routes {
  const routes: Routes = {
    candidates: [],
    others: [],
    nearlyTagged: [],
    keys: [],
    known: [],
    listed: [],
    endpoint: undefined
  }
  const own = new Set(
    [settings.path, ...settings.sets.map(({ path }) => withoutSlash(path)), cardPath(settings.path)].flatMap((
      path
    ) => [path, `${path}/`])
  )
  app.addHook('onRoute', function (route) {
    // Read now: Fastify changes `url` of this object when it registers the same route with a slash at the end.
    const { url } = route
    if (url === settings.path && [route.method].flat().includes('POST')) routes.endpoint = route
    routes.known.push({
      method: route.method,
      url,
      get schema () {
        return route.schema ?? {}
      },
      constraints: route.constraints ?? {}
    })
    // A hook of the host may tag every route, and the endpoint is none of its tools.
    const key = own.has(url) && Object.keys(route.constraints ?? {}).length === 0 ? '' : keyOf(route)
    const entry = reviewed.entryOf(key)
    if (key !== '') routes.keys.push(key)
    const isTool = key !== '' && (entry?.publish ?? isExposed(route, settings))
    const isPublished = isTool || (key !== '' && isResource(route))
    const mark = markRoute(route, isPublished)
    const isHeld = isPublished && (entry?.confirm ?? route.config?.mcp?.confirm) !== undefined
    if (isHeld) holdCalls(route)
    if (isPublished) checkArrivals(route)
    const candidate: Candidate = { scope: this, key, label: labelOf(route), url, route, isTool, isHeld, entry, ...mark }
    if (isPublished) routes.candidates.push(candidate)
    else if (key !== '' && entry === undefined && hasTagLike(route, settings)) routes.nearlyTagged.push(labelOf(route))
    if (keepsAll && key !== '') routes.listed.push(candidate)
    // The HEAD twin of a tool's route has the same handler.
    if (!isPublished && route.method !== 'HEAD') routes.others.push({ label: labelOf(route), ...mark })
  })
  return routes
}

/**
 * Checks the routes that were registered before the plugin.
 * @throws {@link MCP_FROM_ROUTES_REGISTERED_LATE} if one of them is to be published
 */
export function checkEarlier (earlier: readonly SeenRoute[], settings: Settings, reviewed: Reviewed): void {
  const late = earlier.filter((route) =>
    reviewed.entryOf(keyOf(route))?.publish ?? (isExposed(route, settings) || isResource(route))
  ).map(labelOf)
  if (late.length > 0) throw new MCP_FROM_ROUTES_REGISTERED_LATE(late.join(', '))
}

/**
 * Checks the routes that are neither tools nor resources.
 * @throws {@link MCP_FROM_ROUTES_UNSUPPORTED_ROUTE} if one of them got the `config` of a tool
 */
export function checkOthers (others: readonly OtherRoute[]): void {
  for (const { label, ownerOfConfig } of others) {
    const owner = ownerOfConfig()?.public.route
    if (owner !== undefined) {
      throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
        labelOf(owner),
        `an onRoute hook gave its config to ${label} as well. Create a new object for each route: route.config ` +
          '= { ...route.config, … }'
      )
    }
  }
}

/** Tells whether a schema has the tag. */
export function isTagged (
  { exposedTag }: Pick<Settings, 'exposedTag'>
): (schema: FastifySchema | undefined) => boolean {
  return (schema) => schema?.tags?.includes(exposedTag) ?? false
}

function isExposed (
  { method, schema }: { readonly method: RouteOptions['method'], readonly schema?: FastifySchema },
  settings: Settings
): boolean {
  return method !== 'HEAD' && method !== 'OPTIONS' && isTagged(settings)(schema)
}

/**
 * Whether a route is to be a resource, as far as it says: half of what that takes is an error, which the reader of the
 * route finds.
 */
function isResource (
  { method, schema, config }: {
    readonly method: RouteOptions['method'],
    readonly schema?: FastifySchema,
    readonly config?: RouteOptions['config']
  }
): boolean {
  return method !== 'HEAD' && method !== 'OPTIONS' &&
    (isTagged({ exposedTag: RESOURCE_TAG })(schema) || config?.mcp?.resource !== undefined)
}

/** Whether a tag differs from the right one only in case. */
function hasTagLike (route: RouteOptions, { exposedTag }: Settings): boolean {
  return route.method !== 'HEAD' &&
    (route.schema?.tags?.some((tag) => tag.toLowerCase() === exposedTag.toLowerCase()) ?? false)
}

function labelOf ({ method, url }: { readonly method: string | string[], readonly url: string }): string {
  return `${[method].flat().join(',')} ${url}`
}
