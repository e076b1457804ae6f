import type { FastifyBaseLogger } from 'fastify'
import { must } from './option-checks.ts'
import type { ApiKeySettings } from './options.ts'

type ShopSettings = Pick<ApiKeySettings, 'shopParam' | 'shopIdFromParam'>

/** Reads the shop of a request from the parameters of its path. */
export interface ShopReader {
  /** The shop's id as the host stores it; undefined if the path names no shop that the host knows. */
  fromParams (params: unknown): string | undefined
  /** Whether a key of this shop may call: the path has no shop, or has this one. */
  isAllowed (params: unknown, shopId: string): boolean
}

export function createShopReader ({ shopParam, shopIdFromParam }: ShopSettings): ShopReader {
  const paramOf = (params: unknown) => shopParam === null ? undefined : (params as Readonly<Record<string, string | undefined>>)[shopParam]

  function idFromParam (param: string): string | undefined {
    // The function is the host's and may be JavaScript: a number or a promise would refuse every key, and nothing would say why.
    const id: unknown = shopIdFromParam(param)
    if (!id) return undefined
    must(typeof id === 'string', 'apiKeys.shopIdFromParam must return the id of the owner as a string, or undefined')
    return id
  }

  return {
    fromParams: (params) => idFromParam(paramOf(params) ?? ''),
    isAllowed (params, shopId) {
      const param = paramOf(params)
      return param === undefined || idFromParam(param) === shopId
    }
  }
}

/** Tells of the paths that accept the keys of every shop, because none of their parameters, or only an optional one, names the shop. */
export interface UnboundPaths {
  /** Warns of a path of a `dual` route, once. @param isMeant - whether the route says that it is for every shop */
  note (url: string, isMeant: boolean): void
  /** @throws {@link DUAL_AUTH_INVALID_OPTION} if there are such paths, and none that names a shop: the parameter has another name */
  check (): void
}

export function unboundPaths ({ shopParam }: Pick<ShopSettings, 'shopParam'>, log: FastifyBaseLogger): UnboundPaths {
  const warned = new Set<string>()
  let isBound = false
  // Nothing is forgotten where no path names an owner.
  if (shopParam === null) return { note () {}, check () {} }
  return {
    note (url, isMeant) {
      // A path with and without its last slash is one path.
      const path = url.replace(/\/$/, '')
      const params = paramsFromPath(path)
      const isNamed = params.includes(shopParam)
      isBound ||= isNamed
      if (isMeant || params.length === 0 || (isNamed && !optionalParamsFromPath(path).includes(shopParam)) || warned.has(path)) return
      warned.add(path)
      log.warn({ path, params }, `dual-auth: ${path} accepts every API key${isNamed ? ` when ${shopParam} is left out` : `: no parameter of the path is named ${shopParam}`}. Set config.anyShop on the route if that is intended`)
    },
    check () {
      const [path] = warned
      must(isBound || path === undefined, `apiKeys.shopParam is ${shopParam}, and no path that accepts API keys has this parameter: every key would open ${path}. Set it to the parameter that names the owner of a key, or to null if none does; or set config.anyShop on the routes that are for every owner`)
    }
  }
}

/**
 * The names of a path's parameters, as the router reads them: each ends at the next `/`, `-`, `.`, `(` or `?`, and two
 * colons stand for a literal one. A wildcard, always the last character, is `*`.
 */
function paramsFromPath (path: string): string[] {
  const names = [...path.replaceAll('::', '').matchAll(/:([^/.(?-]+)/g)].map(([, name]) => String(name))
  return path.endsWith('*') ? [...names, '*'] : names
}

/** The names of the optional parameters: the router serves the path without its last segment too. */
function optionalParamsFromPath (path: string): string[] {
  return paramsFromPath(/\/:[^/()]*\?\/?$/.exec(path)?.[0] ?? '')
}
