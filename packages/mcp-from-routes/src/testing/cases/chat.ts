import { attempt } from '../../attempt.ts'
import { isObject, listIn } from '../../schema/json-schema.ts'
import { sumOf, type Dialect, type ModelCall, type Tokens } from './dialect.ts'

/**
 * The Chat Completions API.
 *
 * @see [Chat Completions](https://platform.openai.com/docs/api-reference/chat/create)
 */
export const chat: Dialect = {
  name: 'Chat Completions API',
  path: '/chat/completions',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  // The longest answer is left to the endpoint: its parameter has two names, and some endpoints know only one of them.
  body: ({ model, system, tools, says, rounds }) => ({
    model,
    ...tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema }
      }))
    },
    messages: [
      ...system === undefined ? [] : [{ role: 'system', content: system }],
      { role: 'user', content: says },
      ...rounds.flatMap(({ turn, answers }) => [
        turn.message,
        ...answers.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }))
      ])
    ]
  }),
  turn (response) {
    const [choice] = isObject(response) ? listIn(response.choices) : []
    if (!isObject(response) || !isObject(choice) || !isObject(choice.message)) return undefined
    const { message, finish_reason: reason } = choice
    return {
      said: typeof message.content === 'string' ? message.content : '',
      calls: listIn(message.tool_calls).filter(isObject).map(callFrom),
      message: { ...message, role: 'assistant' },
      tokens: tokensFrom(response.usage),
      isCut: reason === 'length'
    }
  }
}

function callFrom ({ id, function: called }: Record<string, unknown>): ModelCall {
  const { name, arguments: written } = isObject(called) ? called : {}
  // Some endpoints write nothing for a call without arguments.
  const text = written === undefined || written === '' ? '{}' : String(written)
  const args: unknown = attempt(() => JSON.parse(text))
  return { id: String(id), name: String(name), args: isObject(args) ? args : undefined, written: text }
}

function tokensFrom (usage: unknown): Tokens | undefined {
  if (!isObject(usage)) return undefined
  const input = sumOf([usage.prompt_tokens])
  const output = sumOf([usage.completion_tokens])
  return input === undefined || output === undefined ? undefined : { input, output }
}
