import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { markRoute, watchArrivals, type RouteMark } from '../call/guard.ts'
import { MCP_FROM_ROUTES_REGISTERED_LATE, MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from '../errors.ts'
import type { Claim, Route } from '../extension.ts'
import { wantsToBePublished } from '../extensions.ts'
import type { Settings } from '../settings.ts'
import type { SeenRoute } from './routes-so-far.ts'
import type { Candidate } from './catalog.ts'

/** A route that is not published. */
type OtherRoute = Pick<RouteMark, 'ownerOfConfig'> & { readonly label: string }

/** What extensions say of a route, all of them together. */
export type ClaimOf = (route: Route, key: string) => Claim

/** The routes that were registered after the plugin. */
export interface Routes {
  readonly candidates: Candidate[]
  readonly others: OtherRoute[]
  /** Routes with a tag that differs from the right one only in case. */
  readonly nearlyTagged: string[]
  /** The keys of all that could become tools. */
  readonly keys: string[]
  /** All that could become tools, for a command that lists them. */
  readonly listed: Candidate[]
  /** Routes that want to be published in a way which nobody knows. */
  readonly unread: Candidate[]
  /** The route of the endpoint. */
  endpoint: RouteOptions | undefined
}

/**
 * Collects the routes during their registration, and prepares those that are published.
 * @param own - the paths of the plugin's own routes
 * @param keepsAll - whether those that are not published are to be listed too
 */
export function collectRoutes (
  app: FastifyInstance,
  settings: Settings,
  claimOf: ClaimOf,
  own: ReadonlySet<string>,
  keepsAll: boolean
): Routes {
  const routes: Routes = {
    candidates: [],
    others: [],
    nearlyTagged: [],
    keys: [],
    listed: [],
    unread: [],
    endpoint: undefined
  }
  app.addHook('onRoute', function (route) {
    // Read now: Fastify changes `url` of this object when it registers the same route with a slash at the end.
    const { url } = route
    if (url === settings.path && [route.method].flat().includes('POST')) routes.endpoint = route
    // A hook of the host may tag every route, and the endpoint is none of its tools.
    const key = own.has(url) && Object.keys(route.constraints ?? {}).length === 0 ? '' : keyOf(route)
    const claim = key === '' ? {} : claimOf(route, key)
    if (key !== '') routes.keys.push(key)
    const isTool = key !== '' && (claim.tool ?? isExposed(route, settings))
    const isPublished = isTool || claim.callable === true
    const mark = markRoute(route, isPublished)
    if (isPublished) watchArrivals(route)
    const candidate: Candidate = { scope: this, key, label: labelOf(route), url, route, isTool, claim, ...mark }
    if (isPublished) routes.candidates.push(candidate)
    else if (key !== '' && claim.tool === undefined && hasTagLike(route, settings)) {
      routes.nearlyTagged.push(labelOf(route))
    }
    if (!isPublished && key !== '' && wantsToBePublished(route)) routes.unread.push(candidate)
    if (keepsAll && key !== '') routes.listed.push(candidate)
    // The HEAD twin of a tool's route has the same handler.
    if (!isPublished && route.method !== 'HEAD') routes.others.push({ label: labelOf(route), ...mark })
  })
  return routes
}

/**
 * What errors and files call a route: `GET /users/:id`, with its constraints where it has any. Empty for HEAD and
 * OPTIONS.
 */
export function keyOf ({ method, url, constraints }: Pick<RouteOptions, 'method' | 'url' | 'constraints'>): string {
  const methods = [method].flat().filter((name) => name !== 'HEAD' && name !== 'OPTIONS')
  const limits = Object.entries(constraints ?? {}).map(([name, value]) => ` ${name}=${String(value)}`).sort()
  return methods.length === 0 ? '' : `${methods.join(',')} ${url}${limits.join('')}`
}

/**
 * Checks the routes that were registered before the plugin.
 * @throws {@link MCP_FROM_ROUTES_REGISTERED_LATE} if one of them is to be published
 */
export function checkEarlier (earlier: readonly SeenRoute[], settings: Settings, claimOf: ClaimOf): void {
  const late = earlier.filter((route) => {
    const { tool, callable } = claimOf(route, keyOf(route))
    return callable === true || (tool ?? isExposed(route, settings))
  }).map(labelOf)
  if (late.length > 0) throw new MCP_FROM_ROUTES_REGISTERED_LATE(late.join(', '))
}

/**
 * Checks the routes that are not published.
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

/** Whether a tag differs from the right one only in case. */
function hasTagLike (route: RouteOptions, { exposedTag }: Settings): boolean {
  return route.method !== 'HEAD' &&
    (route.schema?.tags?.some((tag) => tag.toLowerCase() === exposedTag.toLowerCase()) ?? false)
}

function labelOf ({ method, url }: { readonly method: string | string[], readonly url: string }): string {
  return `${[method].flat().join(',')} ${url}`
}
