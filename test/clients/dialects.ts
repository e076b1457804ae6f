import type { ServerResponse } from 'node:http'
import type { Call, Told, Turn } from './model.ts'

/** One API of models: how its requests are read, and how a turn is answered. */
interface Dialect {
  /** @returns undefined for a request that is not a turn of the conversation */
  read(body: any): Turn | undefined
  /** @param call - undefined ends the conversation */
  answer(response: ServerResponse, body: any, call: Call | undefined): void
}

const DONE = 'Done.'
let calls = 0

/** Anthropic Messages: Claude Code. */
const messages: Dialect = {
  read ({ system, tools = [], messages }) {
    if (tools.length === 0) return
    const results = messages.flatMap(({ content }: any) => Array.isArray(content) ? content : []).filter((
      { type }: any
    ) => type === 'tool_result')
    return {
      instructions: JSON.stringify([system, messages]),
      tools: tools.map(({ name }: any) => name),
      told: toldBy(results.at(-1)?.content, results.at(-1)?.is_error)
    }
  },
  answer (response, { model, stream }, call) {
    const block = call === undefined
      ? { type: 'text', text: DONE }
      : { type: 'tool_use', id: `toolu_${++calls}`, name: call.name, input: call.arguments }
    const reason = call === undefined ? 'end_turn' : 'tool_use'
    const message = {
      id: `msg_${++calls}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [block],
      stop_reason: reason,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 }
    }
    if (!stream) return json(response, message)
    events(response, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: call === undefined ? { type: 'text', text: '' } : { ...block, input: {} }
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: call === undefined
          ? { type: 'text_delta', text: DONE }
          : { type: 'input_json_delta', partial_json: JSON.stringify(call.arguments) }
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' }
    ])
  }
}

/** OpenAI Responses: Codex and the libraries that agents are built with. */
const responses: Dialect = {
  read ({ instructions = '', tools = [], input }) {
    if (tools.length === 0) return
    const items = Array.isArray(input) ? input : []
    const result = items.filter(({ type }: any) => type === 'function_call_output').at(-1)
    // Codex groups the tools of a server: the group's name belongs to each.
    const names = tools.flatMap(({ name, type, tools }: any) =>
      type === 'namespace' ? tools.map((tool: any) => `${name}__${tool.name}`) : [name ?? type]
    )
    return { instructions: JSON.stringify([instructions, input, tools]), tools: names, told: toldBy(result?.output) }
  },
  answer (response, { model, stream }, call) {
    const id = `item_${++calls}`
    const [, namespace, name] = /^(mcp__.+?__)(.+)$/.exec(call?.name ?? '') ?? []
    const item = call === undefined
      ? {
        type: 'message',
        id,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: DONE, annotations: [] }]
      }
      : {
        type: 'function_call',
        id,
        call_id: `call_${calls}`,
        status: 'completed',
        name: name ?? call.name,
        ...(namespace && { namespace: namespace.replace(/__$/, '') }),
        arguments: JSON.stringify(call.arguments)
      }
    const usage = {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 }
    }
    const whole = {
      id: `resp_${calls}`,
      object: 'response',
      created_at: 0,
      status: 'completed',
      model,
      output: [item],
      usage,
      error: null,
      incomplete_details: null,
      parallel_tool_calls: false,
      tools: []
    }
    if (!stream) return json(response, whole)
    events(response, [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole }
    ])
  }
}

/** The lab's own: what a program without a model of its own asks. */
const plain: Dialect = {
  read: ({ instructions, tools, told }) => ({ instructions, tools, told }),
  answer: (response, _body, call) => json(response, call ?? null)
}

/** Of each dialect, its path. */
export const dialects: Readonly<Record<string, Dialect>> = {
  '/v1/messages': messages,
  '/v1/responses': responses,
  '/responses': responses,
  '/turn': plain
}

/** The content of a tool's result in any of the shapes that models know. */
function toldBy (content: unknown, isError = false): Told | undefined {
  if (content === undefined) return
  const blocks = Array.isArray(content) ? content : [content]
  return [
    ...(isError ? ['<is_error>'] : []),
    ...blocks.map((block) => typeof block === 'string' ? block : block.text ?? `<${block.type.replace('input_', '')}>`)
  ]
}

function json (response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function events (
  response: ServerResponse,
  list: ReadonlyArray<{ readonly type: string, readonly [key: string]: unknown }>
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}
