import { post } from '../../build.ts'

/** One round of a call of revision 2026-07-28. */
export interface Round {
  readonly args?: Record<string, unknown>
  readonly headers?: Record<string, string>
  /** What the client says of its elicitation. Default: it shows forms. */
  readonly elicitation?: object | undefined
  readonly state?: unknown
  /** The answer to the question. */
  readonly answer?: unknown
}

/** What the server says: a question, a result, or an error of the protocol. */
export interface Said {
  readonly resultType?: string
  readonly inputRequests?: {
    readonly confirm: {
      readonly method: string,
      readonly params: {
        readonly message: string,
        readonly mode?: string,
        readonly url?: string,
        readonly requestedSchema?: unknown
      }
    }
  }
  readonly requestState?: string
  readonly content?: ReadonlyArray<{ readonly text: string }>
  readonly isError?: true
  readonly code?: number
  readonly message?: string
}

export const YES = { action: 'accept', content: { confirm: true } }

/** The message of a call of the newest revision, and its headers. */
export function callOf (
  name: string,
  { args = {}, headers = {}, state, answer, ...more }: Round = {}
): { readonly message: object, readonly headers: Record<string, string> } {
  const elicitation = 'elicitation' in more ? more.elicitation : { form: {} }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { ...elicitation !== undefined && { elicitation } },
    'io.modelcontextprotocol/clientInfo': { name: 'a client', version: '1' }
  }
  const params = {
    name,
    arguments: args,
    _meta,
    ...state !== undefined && { requestState: state },
    ...answer !== undefined && { inputResponses: { confirm: answer } }
  }
  return {
    message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name, ...headers }
  }
}

/** Calls a tool as a client of the newest revision. */
export async function round (url: URL | string, name: string, call: Round = {}): Promise<Said> {
  const { message, headers } = callOf(name, call)
  const { body } = await post(url, message, headers)
  const { result, error } = body as { result?: Said, error?: Said }
  return result ?? error ?? {}
}

/** What a person is asked; undefined if nobody is. */
export function asked (said: Said): string | undefined {
  return said.resultType === 'input_required' ? said.inputRequests?.confirm.params.message : undefined
}

/** What the model reads. */
export function told (said: Said): string | undefined {
  return said.content?.map(({ text }) => text).join('\n')
}
