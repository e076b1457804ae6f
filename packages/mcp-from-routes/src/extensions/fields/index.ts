import { check, checkKeys } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import type { ToolFields } from './rule.ts'

export type { ToolFields } from './rule.ts'

/** Options of {@link fields}. */
export interface FieldsOptions {
  /** Whether all lists have the argument. With false, only routes with `config.mcp.fields` have it. Default is true. */
  readonly lists?: boolean
}

declare module '../../types.ts' {
  interface McpRouteConfig {
    /**
     * Whether the tool has the argument `fields`, by which a caller chooses the fields of the result: those of the
     * record, or of each record of a list, `prices.amount` for one inside. The names come from the response schema; the
     * route stays as it is. An object says which names are offered, and where the records of a list are:
     * `{ list: 'items', names: ['id', 'name'] }`. Default is true for lists.
     */
    readonly fields?: ToolFields
  }
}

/**
 * Tools of lists have the argument `fields`, by which a caller chooses the fields of each record.
 * @returns for the option `extensions`
 */
export function fields (options: FieldsOptions = {}): Extension {
  return {
    name: 'mcp-from-routes/fields',
    keys: ['fields'],
    settings () {
      checkKeys(options, 'fields', ['lists'])
      const { lists = true } = options
      check(typeof lists === 'boolean', 'fields.lists', 'must be true or false')
      return { fields: lists }
    }
  }
}
