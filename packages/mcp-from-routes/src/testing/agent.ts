import type { CallToolResult, Client, ContentBlock, Tool } from '@modelcontextprotocol/client'
import { BOOLEAN, FUNCTION, oneOf, type Table } from '#shared/option-table'
import { PATH, settingsBy, withoutSlash } from '../checks.ts'
import { PUBLISHED } from '../published.ts'
import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import type { Era, McpTool } from '../types.ts'
import { checkCall, checkResult } from './checks.ts'
import { MCP_FROM_ROUTES_TESTING_APP } from './errors.ts'
import { fetchFrom, type TestedApp } from './in-process.ts'
import { elicitResultFrom, questionFrom, type AnswerFor, type Question } from './questions.ts'
import { clientSdk } from './sdk.ts'
import { followTasks } from './tasks.ts'

/** Options of {@link agentOf}. */
export interface AgentOptions {
  /** Headers of every request, such as the credential of a test user. Default is none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Path of the endpoint, such as that of a set. Default is the plugin's option `path`. */
  readonly path?: string
  /**
   * The protocol that the client speaks: `'modern'` is revision 2026-07-28, `'legacy'` 2025-11-25. Default is
   * `'modern'`.
   */
  readonly era?: Era
  /**
   * Answers for the person at the client. Default is a client that cannot ask anybody. In `'legacy'`, this server asks
   * nobody.
   */
  readonly answer?: AnswerFor
  /**
   * Whether the client knows tasks: a call then ends when its work does. Default is false, as of most clients, whose
   * model is told how to ask for the status.
   */
  readonly tasks?: boolean
}

/** Options of one call. */
export interface AgentCallOptions {
  /**
   * Whether the call is made as by a client that checks neither it nor its result: with a name that is not listed, with
   * arguments that break the input schema. Default is false.
   */
  readonly unchecked?: boolean
}

/** What a model reads of a call. */
export interface AgentResult {
  /** Whether it is an error that the model is to act on. */
  readonly isError: boolean
  /** All texts, one a line. */
  readonly text: string
  /** The JSON of the result, as the output schema describes it; undefined if there is none. */
  readonly structuredContent: unknown
  /** Texts, images and what else there is, as they came. */
  readonly content: readonly ContentBlock[]
  /** Headers of the route's response, by the option `resultHeaders`. */
  readonly headers: Readonly<Record<string, string>>
  readonly _meta: Readonly<Record<string, unknown>>
}

/** A client of an app's endpoint. */
export interface Agent {
  /** What this caller's model is shown now. */
  readonly tools: () => Promise<readonly Tool[]>
  /**
   * Calls a tool.
   *
   * @param args - default: none
   * @returns what the model reads. A 4xx or 5xx of the route is such a result too
   * @throws {@link MCP_FROM_ROUTES_TESTING_UNLISTED}, {@link MCP_FROM_ROUTES_TESTING_ARGUMENTS},
   *   {@link MCP_FROM_ROUTES_TESTING_RESULT}, {@link MCP_FROM_ROUTES_TESTING_TASK}; errors of the protocol and of HTTP
   *   as the SDK throws them
   */
  readonly call: (name: string, args?: object, options?: AgentCallOptions) => Promise<AgentResult>
  /** What the person was asked so far, in that order. */
  readonly asked: readonly Question[]
  /** The client of the SDK, for all else: `readResource`, `getInstructions`. It checks results, but no calls. */
  readonly client: Client
}

const OPTIONS: Table<
  & Required<Omit<AgentOptions, 'path' | 'answer'>>
  & { readonly [name in 'path' | 'answer']: AgentOptions[name] }
> = {
  headers: {
    holds: (headers) => isObject(headers) && Object.values(headers).every((value) => typeof value === 'string'),
    rule: 'must be an object of strings',
    secret: true,
    default: {}
  },
  path: PATH,
  era: { ...oneOf('modern', 'legacy'), default: 'modern' },
  answer: FUNCTION,
  tasks: { ...BOOLEAN, default: false }
}

const CALL_OPTIONS: Table<Required<AgentCallOptions>> = { unchecked: { ...BOOLEAN, default: false } }

const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
const HEADERS = 'mcp-from-routes/headers'

/**
 * Connects a client of the MCP SDK to an app in this process, without a port. Nothing has to be closed but the app.
 *
 * @param given - an app with mcp-from-routes, or a promise of one; it is made ready
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}, {@link MCP_FROM_ROUTES_TESTING_APP},
 *   {@link MCP_FROM_ROUTES_TESTING_NO_CLIENT}; an error of the SDK if the app refuses the connection
 */
export async function agentOf (given: TestedApp | PromiseLike<TestedApp>, options: AgentOptions = {}): Promise<Agent> {
  const { headers, path, era, answer, tasks } = settingsBy(OPTIONS, options, 'agentOf')
  const app = await given
  await app.ready()
  const url = new URL(pathIn(app, path), 'http://localhost')
  const { Client, StreamableHTTPClientTransport, mismatch } = await clientSdk()
  const asked: Question[] = []
  let listed: readonly Tool[] = []

  const client = new Client({ name: 'mcp-from-routes/testing', version: '1.0.0' }, {
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    capabilities: {
      ...answer && { elicitation: { form: {}, url: {} } },
      ...tasks && { extensions: { [TASKS_EXTENSION]: {} } }
    }
  })
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const question = questionFrom(params)
      asked.push(question)
      return elicitResultFrom(await answer(question), params)
    })
  }
  const mayStart = (name: string): boolean =>
    listed.some((tool) => tool.name === name && tool.execution?.taskSupport === 'optional')
  const send = fetchFrom(app)
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: tasks ? followTasks(send, era, mayStart) : send,
    requestInit: { headers }
  })
  await client.connect(transport).catch(refuse)

  async function tools (): Promise<readonly Tool[]> {
    // A test may have changed what the caller may do.
    listed = (await client.listTools(undefined, { cacheMode: 'refresh' })).tools
    return listed
  }

  return {
    tools,
    async call (name, args = {}, options = {}) {
      const { unchecked } = settingsBy(CALL_OPTIONS, options, 'agent.call')
      // As it travels.
      const sent = JSON.parse(JSON.stringify(args)) as Record<string, unknown>
      const all = await tools()
      if (!unchecked) checkCall(name, sent, all, mismatch)
      const tool = all.find((one) => one.name === name)
      const result = await client.callTool({ name, arguments: sent }, tool && { toolDefinition: withoutOutput(tool) })
      if (!unchecked && tool !== undefined) checkResult(tool, result, declaredBy(app, name), mismatch)
      return readable(result)
    },
    asked,
    client
  }
}

/** The path of an endpoint: the wanted one, or that of the option `path`, which is the first. */
function pathIn (app: object, wanted: string | undefined): string {
  const published = Reflect.get(app, PUBLISHED) as { readonly endpoints: ReadonlyMap<string, unknown> } | undefined
  if (published === undefined) {
    throw new MCP_FROM_ROUTES_TESTING_APP('the app has no endpoint: mcp-from-routes is not registered')
  }
  const [main = '/', ...more] = published.endpoints.keys()
  const path = wanted === undefined ? main : withoutSlash(wanted)
  if (published.endpoints.has(path)) return path
  throw new MCP_FROM_ROUTES_TESTING_APP(`the app has no endpoint at ${path}. It has ${[main, ...more].join(', ')}`)
}

/** @throws what the SDK threw, and if the app does not know the caller, what to give it */
function refuse (cause: unknown): never {
  const { status } = Object(cause) as { readonly status?: unknown }
  if (status !== 401 && status !== 403) throw cause
  throw new MCP_FROM_ROUTES_TESTING_APP(
    `the app answers ${status}: give the caller's credential, as in ` +
      "agentOf(app, { headers: { authorization: 'Bearer …' } })",
    { cause }
  )
}

/** The SDK would check the result, and not say what it was. */
function withoutOutput ({ outputSchema, ...tool }: Tool): Tool {
  return tool
}

/** What the route of a tool declares; undefined for a tool without a route. */
function declaredBy (app: object, name: string): JsonSchema | undefined {
  const tools = Reflect.get(app, 'mcpTools') as readonly McpTool[]
  return tools.find((tool) => tool.name === name)?.route.output
}

function readable ({ content, structuredContent, isError = false, _meta = {} }: CallToolResult): AgentResult {
  return {
    isError,
    text: content.flatMap((block) => block.type === 'text' ? [block.text] : []).join('\n'),
    structuredContent,
    content,
    headers: (_meta[HEADERS] ?? {}) as Record<string, string>,
    _meta
  }
}
