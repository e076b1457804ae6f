import { MCP_FROM_ROUTES_INVALID_CONFIG, MCP_FROM_ROUTES_NAME_CLASH } from '../../errors.ts'
import type { FastifyRequest } from 'fastify'
import type { Part, Source } from '../../model.ts'

/**
 * A question: a string that says what would happen, or a page where the person does something, such as a checkout or a
 * sign-in at a third party. With a page, the call runs when the function no longer returns it.
 */
export type ConfirmQuestion = string | { readonly mode: 'url', readonly url: string, readonly text?: string }

/**
 * A route's `config.mcp.confirm`. True asks with the tool's title and the arguments, a string with that string and the
 * arguments. A function reads the record and says what would happen to it; undefined runs the call without a question.
 * It throws what the route would throw, since a route may no longer refuse a call when it runs. The request is the one
 * that the handler gets, so what the function has decided can be kept by it. It runs after the route's hooks and
 * validation, before the handler, in each round: as long as nothing changes, it must return the same.
 */
export type Confirm =
  | true
  | string
  | ((
    args: Readonly<Record<string, unknown>>,
    request: FastifyRequest
  ) => ConfirmQuestion | undefined | Promise<ConfirmQuestion | undefined>)

/** What happens to a call whose client cannot ask a person. */
export type ConfirmFallback = 'refuse' | 'allow' | 'token'

/** The argument that brings a token. */
export const TOKEN_ARGUMENT = 'confirm_token'
const TOKEN_SCHEMA = {
  type: 'string',
  description:
    'Leave it out at first. If the answer asks for it, and the person agrees, call again with the token from ' +
    'that answer.'
}

/** Makes the beginning of the calls of one tool. */
export type Hold = (confirm: Confirm, fallback: ConfirmFallback) => NonNullable<Part['begin']>

/**
 * What a tool gets by its `config.mcp.confirm`.
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function confirmPart (
  { label, config: { mcp }, attachValidation = false, input }: Source,
  fallback: ConfirmFallback,
  hold: Hold
): Part | undefined {
  const confirm: unknown = mcp?.confirm
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
  if (fallback === 'token' && input.places.has(TOKEN_ARGUMENT)) {
    throw new MCP_FROM_ROUTES_NAME_CLASH(label, TOKEN_ARGUMENT, 'its own and that of a confirmation')
  }
  return {
    asks: true,
    facts: { confirm: fallback },
    ...fallback === 'token' && { arguments: { [TOKEN_ARGUMENT]: { schema: TOKEN_SCHEMA } } },
    begin: hold(confirm as Confirm, fallback)
  }
}
