import { isObject, listIn } from '../../schema/json-schema.ts'
import { sumOf, type Dialect, type ModelCall, type Tokens } from './dialect.ts'

/** The longest answer, in tokens. The API requires a number. */
const MAX_TOKENS = 4096

/**
 * The Messages API.
 *
 * @see [Messages](https://platform.claude.com/docs/en/api/messages)
 */
export const messages: Dialect = {
  name: 'Messages API',
  path: '/messages',
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  body: ({ model, system, tools, says, rounds }) => ({
    model,
    max_tokens: MAX_TOKENS,
    ...system !== undefined && { system },
    ...tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }))
    },
    messages: [
      { role: 'user', content: says },
      ...rounds.flatMap(({ turn, answers }) => [
        { role: 'assistant', content: turn.message },
        {
          role: 'user',
          content: answers.map(({ id, text, isError }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: text,
            ...isError && { is_error: true }
          }))
        }
      ])
    ]
  }),
  turn (response) {
    if (!isObject(response) || !Array.isArray(response.content)) return undefined
    const blocks = response.content.filter(isObject)
    return {
      said: blocks.flatMap(({ type, text }) => type === 'text' ? [String(text)] : []).join('\n'),
      calls: blocks.filter(({ type }) => type === 'tool_use').map(callFrom),
      message: listIn(response.content),
      tokens: tokensFrom(response.usage),
      isCut: response.stop_reason === 'max_tokens'
    }
  }
}

function callFrom ({ id, name, input }: Record<string, unknown>): ModelCall {
  return {
    id: String(id),
    name: String(name),
    args: isObject(input) ? input : undefined,
    written: JSON.stringify(input) ?? 'nothing'
  }
}

/** Input that is read from a cache or written to one is counted apart there. */
function tokensFrom (usage: unknown): Tokens | undefined {
  if (!isObject(usage)) return undefined
  const input = sumOf([usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens])
  const output = sumOf([usage.output_tokens])
  return input === undefined || output === undefined ? undefined : { input, output }
}
