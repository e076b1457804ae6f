import { must } from './option-checks.ts'
import { placeOfOwner } from './path-params.ts'
import type { AuthRoute } from './types.ts'

/** Names of parameters that do not say what they name: `/orgs/:id` and `/invoices/:id` have the same. */
const VAGUE = /^_?(?:id|uuid|guid|slug|name|key|owner)$/i

/**
 * Checks that paths name owners of one kind: otherwise a key of the org 7 would open the invoice 7.
 *
 * @param paths - where keys are managed
 * @returns the check of a route that accepts API keys of the owner in its path
 */
export function createOwnerPaths (shopParam: string | null, paths: readonly string[]): (route: AuthRoute) => void {
  let [first] = paths
  return ({ method, url }) => {
    if (shopParam === null || !VAGUE.test(shopParam)) return
    first ??= url
    must(
      placeOfOwner(first, shopParam) === placeOfOwner(url, shopParam),
      `${
        [method].flat().join(', ')
      } ${url} accepts API keys, and its :${shopParam} stands elsewhere than in ${first}: ` +
        'an owner and something else with the same id would be one. Set apiKeys.shopParam to a name that only owners ' +
        'have in your paths, such as orgId'
    )
  }
}
