import { check, checkKeys, isFilled, isPath } from '../../checks.ts'
import type { Extension } from '../../extension.ts'

/** An endpoint whose clients search. */
export interface SearchEndpoint {
  /** Its path; it answers with and without a slash at the end. */
  readonly path: string
  /** The tools that are found have at least one of these in `schema.tags`. Default is all tools. */
  readonly tags?: readonly string[]
}

/**
 * Serves tools that clients find by words, in place of a list of all: they list `search_tools`, `describe_tools`, and a
 * caller each for tools that read and tools that write. For more tools than a model can read, and for clients that do
 * not load tools on demand by themselves.
 *
 * @param endpoints - one or several: `search({ path: '/mcp/search' })`
 * @returns for the option `extensions`
 */
export function search (...endpoints: readonly SearchEndpoint[]): Extension {
  return {
    name: 'mcp-from-routes/search',
    keys: [],
    settings () {
      check(endpoints.length > 0, 'search', 'takes { path } and maybe tags, or several of them')
      for (const endpoint of endpoints) {
        checkKeys(endpoint, 'search', ['path', 'tags'])
        const { path, tags } = endpoint
        check(isPath(path), 'search.path', 'must start with a slash and have no parameters')
        check(
          tags === undefined || (Array.isArray(tags) && tags.length > 0 && tags.every(isFilled)),
          'search.tags',
          'must be an array of tags'
        )
      }
      return { sets: endpoints.map((endpoint) => ({ ...endpoint, option: 'search', search: true })) }
    }
  }
}
