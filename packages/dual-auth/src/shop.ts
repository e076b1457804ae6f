import type { ResolvedApiKeyOptions } from './options.ts'

/** The shop of a request, from the parameters in its path. */
export interface Shops {
  /** The shop's id as the host keeps it; undefined when the path names no shop that it knows. */
  fromParams (params: unknown): string | undefined
  /** Whether a key of this shop may call: the route has no shop in its path, or this one. */
  isAllowed: ShopCheck
}

/** Whether a key of the shop may call with such parameters. */
export type ShopCheck = (params: unknown, shopId: string) => boolean

/** @param options which parameter names the shop, and how to read it */
export function createShops ({ shopParam, shopIdFromParam }: Pick<ResolvedApiKeyOptions, 'shopParam' | 'shopIdFromParam'>): Shops {
  const paramOf = (params: unknown) => (params as Readonly<Record<string, string | undefined>>)[shopParam]

  function idFromParam (param: string): string | undefined {
    // It is the host's, and may be JavaScript: whatever is no id must not pass for a route without a shop.
    const id: unknown = shopIdFromParam(param)
    return typeof id === 'string' && id !== '' ? id : undefined
  }

  return {
    fromParams: params => idFromParam(paramOf(params) ?? ''),
    isAllowed (params, shopId) {
      const param = paramOf(params)
      if (param === undefined) return true
      const id = idFromParam(param)
      return id !== undefined && id === shopId
    }
  }
}
