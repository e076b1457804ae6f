import { MCP_FROM_ROUTES_INVALID_CONFIG, MCP_FROM_ROUTES_NAME_CLASH } from '../errors.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Confirm, ConfirmFallback } from '../types.ts'

/** The question of a tool, and what happens if it cannot be asked. */
export interface ConfirmRule {
  readonly confirm: Confirm
  readonly fallback: ConfirmFallback
}

/** The argument that brings a token. */
export const TOKEN_ARGUMENT = 'confirm_token'
const TOKEN_SCHEMA = {
  type: 'string',
  description:
    'Leave it out at first. If the answer asks for it, and the person agrees, call again with the token from ' +
    'that answer.'
}

/**
 * The rule of a tool, by its `config.mcp.confirm`.
 * @param attachValidation - whether the handler gets calls that validation refuses
 */
export function confirmRule (
  label: string,
  confirm: unknown,
  attachValidation: boolean,
  fallback: ConfirmFallback
): ConfirmRule | undefined {
  if (confirm === undefined) return undefined
  const isRule = confirm === true || typeof confirm === 'function' ||
    (typeof confirm === 'string' && confirm.trim() !== '')
  if (!isRule) throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, 'confirm must be true, a string or a function')
  if (attachValidation) {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(
      label,
      'confirm cannot be combined with attachValidation: a person would be asked about calls that the handler refuses'
    )
  }
  return { confirm: confirm as Confirm, fallback }
}

/** The arguments with the one that brings a token, where clients that cannot ask a person get one. */
export function withToken (label: string, schema: JsonSchema, confirm: ConfirmRule | undefined): JsonSchema {
  if (confirm?.fallback !== 'token') return schema
  const properties = schema.properties as Readonly<Record<string, JsonSchema>>
  if (Object.hasOwn(properties, TOKEN_ARGUMENT)) {
    throw new MCP_FROM_ROUTES_NAME_CLASH(label, TOKEN_ARGUMENT, 'its own and that of a confirmation')
  }
  return { ...schema, properties: { ...properties, [TOKEN_ARGUMENT]: TOKEN_SCHEMA } }
}
