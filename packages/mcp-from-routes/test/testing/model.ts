import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '../build.ts'

/* A model that answers from a script, behind two APIs that refuse what the real ones refuse. */

export const KEY = 'sk-secret-of-the-model'

/** What a script sees of a request. */
export interface Asked {
  readonly says: string
  readonly system: string | undefined
  readonly model: string
  /** Names of the tools. */
  readonly tools: readonly string[]
  /** What tools have returned so far; in the Messages API, errors are marked. */
  readonly results: readonly string[]
  /** How often anything was asked before. */
  readonly before: number
}

/** What the model does, or what the endpoint answers in its place. */
export type Reply =
  | {
    readonly text?: string,
    readonly calls?: ReadonlyArray<readonly [name: string, args: object | string]>,
    readonly isCut?: boolean,
    readonly usage?: object
  }
  | {
    readonly status: number,
    readonly headers?: Readonly<Record<string, string>>,
    readonly body?: unknown
  }
  | 'silence'

export interface FakeModel {
  /** The address of each API. */
  readonly urls: Readonly<Record<Api, string>>
  readonly asked: readonly Asked[]
}

export type Api = 'messages' | 'chat'
export const APIS = ['messages', 'chat'] as const

type Members = Record<string, any>
class Refusal extends Error {}

function must (holds: boolean, why: string): asserts holds {
  if (!holds) throw new Refusal(why)
}

function only (object: Members, known: readonly string[], say: (key: string) => string): void {
  for (const key of Object.keys(object)) must(known.includes(key), say(key))
}

/** Starts one on a free port of loopback, until the test ends. */
export async function fakeModel (t: Teardown, script: (asked: Asked) => Reply | Promise<Reply>): Promise<FakeModel> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const api = request.url === '/v1/messages' ? 'messages' : 'chat'
    const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
    }
    const answer = async (): Promise<void> => {
      must(request.method === 'POST' && /^\/v1\/(messages|chat\/completions)$/.test(String(request.url)), 'Not found')
      const given = keyIn(request)
      if (given !== KEY) return send(401, refusals[api](`Incorrect API key provided: ${given}`))
      const body = JSON.parse(await bodyOf(request)) as Members
      const seen = { ...readers[api](request, body), before: asked.length }
      asked.push(seen)
      const reply = await script(seen)
      if (reply === 'silence') return
      if ('status' in reply) return send(reply.status, reply.body ?? refusals[api]('as the script says'), reply.headers)
      send(200, writers[api](reply, asked.length))
    }
    answer().catch((error: unknown) => {
      send(error instanceof Refusal ? 400 : 500, refusals[api](String((error as Error).message)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { urls: { messages: `${origin}/v1/messages`, chat: `${origin}/v1/chat/completions` }, asked }
}

function keyIn ({ headers, url }: IncomingMessage): string {
  return String(url === '/v1/messages' ? headers['x-api-key'] : headers.authorization?.replace(/^Bearer /, ''))
}

async function bodyOf (request: IncomingMessage): Promise<string> {
  must(request.headers['content-type'] === 'application/json', 'the media type must be application/json')
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += piece
  return text
}

const refusals: Record<Api, (message: string) => object> = {
  messages: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  chat: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } })
}

const readers: Record<Api, (request: IncomingMessage, body: Members) => Omit<Asked, 'before'>> = {
  messages ({ headers }, body) {
    must(headers['anthropic-version'] === '2023-06-01', 'anthropic-version: header is required')
    only(
      body,
      ['model', 'max_tokens', 'system', 'tools', 'messages'],
      (key) => `${key}: Extra inputs are not permitted`
    )
    const { model, max_tokens: max, system, tools = [], messages } = body
    must(typeof model === 'string' && model !== '', 'model: Field required')
    must(Number.isInteger(max) && max > 0, 'max_tokens: Field required')
    must(
      system === undefined || (typeof system === 'string' && system !== ''),
      'system: text content blocks must be non-empty'
    )
    for (const tool of tools) {
      only(tool, ['name', 'description', 'input_schema'], (key) => `tools: ${key}: Extra inputs are not permitted`)
      checkTool(tool.name, tool.input_schema)
    }
    checkUnique(tools.map(({ name }: Members) => name))
    must(Array.isArray(messages) && messages.length > 0, 'messages: at least one message is required')
    const results: string[] = []
    let open: readonly string[] = []
    for (const [index, message] of messages.entries()) {
      only(message, ['role', 'content'], (key) => `messages.${index}.${key}: Extra inputs are not permitted`)
      must(
        message.role === (index % 2 === 0 ? 'user' : 'assistant'),
        'messages: roles must alternate between "user" and "assistant"'
      )
      must(message.content.length > 0, `messages.${index}: all messages must have non-empty content`)
      const blocks: readonly Members[] = typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : message.content
      const answered = blocks.filter(({ type }) => type === 'tool_result')
      must(
        open.every((id) => answered.some((block) => block.tool_use_id === id)),
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`
      )
      for (const block of answered) {
        only(block, ['type', 'tool_use_id', 'content', 'is_error'], (key) => `${key}: Extra inputs are not permitted`)
        must(
          open.includes(block.tool_use_id),
          `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}`
        )
        must(typeof block.content === 'string', 'content: Input should be a valid string')
        results.push(block.is_error === true ? `error: ${block.content}` : block.content)
      }
      open = message.role === 'assistant'
        ? blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
        : []
    }
    must(messages.at(-1).role === 'user', 'the last message must be of the user')
    return { says: messages[0].content, system, model, tools: tools.map(({ name }: Members) => name), results }
  },
  chat (_request, body) {
    only(body, ['model', 'tools', 'messages'], (key) => `Unrecognized request argument supplied: ${key}`)
    const { model, tools, messages } = body
    must(typeof model === 'string' && model !== '', 'you must provide a model parameter')
    must(tools === undefined || tools.length > 0, "[] is too short - 'tools'")
    for (const tool of tools ?? []) {
      must(tool.type === 'function', "Missing required parameter: 'tools[0].type'.")
      only(
        tool.function,
        ['name', 'description', 'parameters'],
        (key) => `Unknown parameter: 'tools[0].function.${key}'.`
      )
      must(tool.function.description.length <= 1024, "Invalid 'tools[0].function.description': string too long")
      checkTool(tool.function.name, tool.function.parameters)
    }
    checkUnique((tools ?? []).map((tool: Members) => tool.function.name))
    must(Array.isArray(messages) && messages.length > 0, "[] is too short - 'messages'")
    const results: string[] = []
    let open: string[] = []
    for (const [index, message] of messages.entries()) {
      if (message.role !== 'tool') {
        must(
          open.length === 0,
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
        )
      }
      if (message.role === 'tool') {
        must(
          open.includes(message.tool_call_id),
          "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        )
        open = open.filter((id) => id !== message.tool_call_id)
        must(typeof message.content === 'string', `Invalid type for 'messages[${index}].content'`)
        results.push(message.content)
      } else if (message.role === 'assistant') {
        open = (message.tool_calls ?? []).map(({ id }: Members) => id)
        must(open.length > 0 || typeof message.content === 'string', `Invalid value for 'messages[${index}].content'`)
      } else {
        must(['system', 'user'].includes(message.role), `Invalid value: '${message.role}'`)
        must(message.role !== 'system' || index === 0, 'the system message comes first')
        must(typeof message.content === 'string', `Invalid type for 'messages[${index}].content'`)
      }
    }
    must(open.length === 0, "'tool_call_id's did not have response messages")
    return {
      says: messages.find(({ role }) => role === 'user').content,
      system: messages[0].role === 'system' ? messages[0].content : undefined,
      model,
      tools: (tools ?? []).map((tool: Members) => tool.function.name),
      results
    }
  }
}

/** What both APIs want of a tool. */
function checkTool (name: unknown, schema: Members | undefined): void {
  must(
    /^[a-zA-Z0-9_-]{1,64}$/.test(String(name)),
    `name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$': ${String(name)}`
  )
  must(schema?.type === 'object', `input_schema.type: Field required, of ${String(name)}`)
  for (const [key, property] of Object.entries<Members>(schema.properties ?? {})) {
    must(/^[a-zA-Z0-9_.-]{1,64}$/.test(key), `Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$': ${key}`)
    must(
      property.type !== 'array' || property.items !== undefined,
      `Invalid schema for function '${String(name)}': array schema missing items`
    )
  }
}

function checkUnique (names: readonly string[]): void {
  must(new Set(names).size === names.length, 'tools: Tool names must be unique.')
}

type Said = Extract<Reply, { readonly text?: string }>

const writers: Record<Api, (reply: Said, count: number) => object> = {
  messages: ({ text, calls = [], isCut = false, usage }, count) => ({
    id: `msg_${count}`,
    type: 'message',
    role: 'assistant',
    model: 'fake-1',
    content: [
      ...text === undefined ? [] : [{ type: 'text', text }],
      ...calls.map(([name, input], index) => ({ type: 'tool_use', id: `toolu_${count}_${index}`, name, input }))
    ],
    stop_reason: isCut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn', // eslint-disable-line
    stop_sequence: null,
    usage: usage ?? {
      input_tokens: 100,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 3,
      output_tokens: 10
    }
  }),
  chat: ({ text, calls = [], isCut = false, usage }, count) => ({
    id: `chatcmpl-${count}`,
    object: 'chat.completion',
    created: 1,
    model: 'fake-1',
    choices: [{
      index: 0,
      message: {
        role: 'assistant',
        content: text ?? null,
        refusal: null,
        ...calls.length > 0 && {
          tool_calls: calls.map(([name, args], index) => ({
            id: `call_${count}_${index}`,
            type: 'function',
            function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
          }))
        }
      },
      finish_reason: isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop' // eslint-disable-line
    }],
    usage: usage ?? { prompt_tokens: 123, completion_tokens: 10, total_tokens: 133 }
  })
}
