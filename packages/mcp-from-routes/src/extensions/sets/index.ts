import { check, checkKeys, isFilled, isPath } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { checkTags, hasOneOf } from '../tags.ts'
import { isObject } from '../../schema/json-schema.ts'

/** A subset of the tools. */
export interface ToolSet {
  /** Path of its endpoint; it answers with and without a slash at the end. */
  readonly path: string
  /** The tools of this set have at least one of these in `schema.tags`. */
  readonly tags: readonly string[]
}

/**
 * Serves subsets of the tools at paths of their own, for clients that limit the number of tools.
 *
 * @param sets - by a name of your choice: `{ catalog: { path: '/mcp/catalog', tags: ['products'] } }` serves the tools
 *   whose routes have one of the tags. The options of the plugin apply there too
 * @returns for the option `extensions`
 */
export function sets (sets: Readonly<Record<string, ToolSet>>): Extension {
  return {
    name: 'mcp-from-routes/sets',
    keys: [],
    install ({ mount }) {
      check(isObject(sets), 'sets', 'takes an object')
      for (const [name, set] of Object.entries(sets)) {
        const option = `sets.${name}`
        checkKeys(set, option, ['path', 'tags'])
        check(isPath(set.path), `${option}.path`, 'must start with a slash and have no parameters')
        check(
          Array.isArray(set.tags) && set.tags.length > 0 && set.tags.every(isFilled),
          `${option}.tags`,
          'must be an array of tags'
        )
        mount(set.path, option, hasOneOf(set.tags))
      }
      return {
        ready ({ tools }) {
          for (const [name, { tags }] of Object.entries(sets)) checkTags(tags, tools, `sets.${name}.tags`)
        }
      }
    }
  }
}
