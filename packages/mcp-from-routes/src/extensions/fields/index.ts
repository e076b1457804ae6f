import { BOOLEAN } from '#shared/option-table'
import { settingsBy } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import type { Part, Source } from '../../model.ts'
import { cut, selectionFrom } from './cut.ts'
import { FIELDS_ARGUMENT, fieldsRule, fieldsSchema, withOptionalFields, type ToolFields } from './rule.ts'

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
    inFiles: { fields: [() => true, ''] },
    install () {
      const { lists } = settingsBy<Required<FieldsOptions>>({ lists: { ...BOOLEAN, default: true } }, options, 'fields')
      return { tool: (source) => fieldsPart(source, lists) }
    }
  }
}

/** What a tool gets whose result has fields to choose. */
function fieldsPart ({ label, config: { mcp }, input, parts, json }: Source, lists: boolean): Part | undefined {
  // What comes later is cut by the route that it comes from.
  const isLater = parts.some(({ output }) => output === false)
  const rule = fieldsRule(label, mcp?.fields, lists, input, () => isLater ? undefined : json())
  if (rule === undefined) return undefined
  return {
    arguments: { [FIELDS_ARGUMENT]: { schema: fieldsSchema(rule), narrows: true } },
    output: (schema) => withOptionalFields(schema, rule),
    begin ({ tool, own }) {
      if (!Object.hasOwn(own, FIELDS_ARGUMENT)) return undefined
      const chosen = selectionFrom(tool.public.name, rule, own[FIELDS_ARGUMENT])
      if (chosen === undefined) return undefined
      if ('refusal' in chosen) return { problem: chosen.refusal }
      return { response: (response) => cut(tool, response, chosen) }
    }
  }
}
