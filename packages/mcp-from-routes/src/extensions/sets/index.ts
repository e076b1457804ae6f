import type { Table } from '#shared/option-table'
import { check, PATH, settingsBy, TAGS } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { isObject } from '../../schema/json-schema.ts'
import { checkTags, hasOneOf } from '../tags.ts'

/** A subset of the tools. */
export interface ToolSet {
  /** Path of its endpoint; it answers with and without a slash at the end. */
  readonly path: string
  /** The tools of this set have at least one of these in `schema.tags`. */
  readonly tags: readonly string[]
}

const TABLE: Table<ToolSet> = {
  path: { ...PATH, required: true },
  tags: { ...TAGS, required: true }
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
        const { path, tags } = settingsBy(TABLE, set, option)
        mount(path, option, hasOneOf(tags))
      }
      return {
        ready ({ tools }) {
          for (const [name, { tags }] of Object.entries(sets)) checkTags(tags, tools, `sets.${name}.tags`)
        }
      }
    }
  }
}
