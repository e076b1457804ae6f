import { must } from './option-checks.ts'
import type { ApiKeySettings } from './options.ts'
import { createOwnerPaths } from './owner-paths.ts'
import type { AuthRoute } from './types.ts'

type ShopSettings = Pick<ApiKeySettings, 'shopParam' | 'shopIdFromParam'>

/** Reads the shop of a request from the parameters of its path. */
export interface ShopReader {
  /** The shop's id as the host stores it; undefined if the path names no shop that the host knows. */
  fromParams(params: unknown): string | undefined
  /** Whether a path can name the shop. */
  canBeNamed(shopId: string): boolean
  /** Whether a key of this shop may call: the path has no shop, or has this one. */
  isAllowed(params: unknown, shopId: string): boolean
  /** Throws for a route that accepts API keys of the owner in its path, if that is another kind of owner. */
  demandOneKind(route: AuthRoute): void
}

/** @param paths - where keys of owners that the path names are managed */
export function createShopReader ({ shopParam, shopIdFromParam }: ShopSettings, paths: readonly string[]): ShopReader {
  const paramOf = (params: unknown) =>
    shopParam === null ? undefined : (params as Readonly<Record<string, string | undefined>>)[shopParam]

  function idFromParam (param: string): string | undefined {
    // The function is the host's and may be JavaScript: a number or a promise would refuse every key, and nothing would
    // say why.
    const id: unknown = shopIdFromParam(param)
    if (!id) return undefined
    must(typeof id === 'string', 'apiKeys.shopIdFromParam must return the id of the owner as a string, or undefined')
    return id
  }

  return {
    fromParams: (params) => idFromParam(paramOf(params) ?? ''),
    canBeNamed: (shopId) => idFromParam(shopId) === shopId,
    isAllowed (params, shopId) {
      const param = paramOf(params)
      return param === undefined || idFromParam(param) === shopId
    },
    demandOneKind: createOwnerPaths(shopParam, paths)
  }
}
