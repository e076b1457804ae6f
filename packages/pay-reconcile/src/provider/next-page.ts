import { providerError } from '../errors.ts'

/**
 * Where the page after this one starts; null: there is none.
 *
 * @param after - where this page started.
 * @throws the provider error `unexpected_object` if the page shows what it starts after: reading on would never end.
 */
export function nextPage (
  page: { readonly ids: readonly string[], readonly more: boolean },
  after: string | null | undefined
): string | null {
  const { ids, more } = page
  if (after != null && ids.includes(after)) throw providerError('unexpected_object')
  return more ? ids.at(-1) ?? null : null
}
