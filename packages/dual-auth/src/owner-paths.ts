import { must } from './option-checks.ts'
import { placeOfOwner } from './path-params.ts'
import type { AuthRoute } from './types.ts'

/** Names of parameters that do not say what they name: `/orgs/:id` and `/invoices/:id` have the same. */
const VAGUE = /^_?(?:id|uuid|guid|slug|name|key|owner)$/i

/** Checks that paths name owners of one kind: otherwise a key of the org 7 would open the invoice 7. */
export interface OwnerPaths {
  /**
   * Throws for a route that accepts API keys of the owner in its path, if that is another kind of owner.
   *
   * @throws {@link DUAL_AUTH_INVALID_OPTION}
   */
  demandOneKind(route: Pick<AuthRoute, 'method' | 'url'>): void
  /**
   * Notes where keys of the owner in the path are managed.
   *
   * @throws {@link DUAL_AUTH_INVALID_OPTION} if those of another kind are, too
   */
  manage(path: string): void
  /** Whether there is such a path. */
  areManaged(): boolean
}

export function createOwnerPaths (ownerParam: string | null): OwnerPaths {
  let first: string | undefined
  let managed: string | undefined
  const areAlike = (one: string, other: string): boolean =>
    ownerParam === null || placeOfOwner(one, ownerParam) === placeOfOwner(other, ownerParam)

  function demandOneKind ({ method, url }: Pick<AuthRoute, 'method' | 'url'>): void {
    if (ownerParam === null || !VAGUE.test(ownerParam)) return
    first ??= url
    must(
      areAlike(first, url),
      `${[method].flat().join(', ')} ${url} has :${ownerParam} elsewhere than ${first}: a key of the owner in one ` +
        'would open the other. Set apiKeys.ownerParam to a name that only owners have in your paths, such as orgId'
    )
  }

  return {
    demandOneKind,
    manage (path) {
      managed ??= path
      must(
        areAlike(managed, path),
        `management must not have :${ownerParam} in ${managed} and in ${path}: owners of two kinds with the same id ` +
          'would be one. Manage the keys of one of them by owner'
      )
      demandOneKind({ method: 'POST', url: path })
    },
    areManaged: () => managed !== undefined
  }
}
