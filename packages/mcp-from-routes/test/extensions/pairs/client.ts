/* What clients of both revisions send, and what of the answers is the same in each run. */

export type Era = 'legacy' | 'modern'
export type Args = Record<string, unknown>
export type Headers = Record<string, string>
/** The answer to a message. */
export interface Answer {
  readonly status: number
  readonly result?: Record<string, any>
  readonly error?: { readonly code: number, readonly message: string }
}

export function headersOf (era: Era, method: string, params: Args): Headers {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  if (era === 'legacy') return { ...json, 'mcp-protocol-version': '2025-11-25' }
  const name = params.name ?? params.taskId ?? params.uri
  return {
    ...json,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...name !== undefined && { 'mcp-name': String(name) }
  }
}

/** Clients of the newest revision can ask a person and have tasks; older ones have neither. */
export function withMeta (era: Era, params: Args): Args {
  if (era === 'legacy') return params
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {
        elicitation: { form: {} },
        extensions: { 'io.modelcontextprotocol/tasks': {} }
      },
      'io.modelcontextprotocol/clientInfo': { name: 'a client', version: '1' }
    }
  }
}

/** What follows a question if the person says yes, or if the model passes the token. */
export async function agree (
  first: Answer,
  args: Args,
  again: (args: Args, more: Args) => Promise<Answer>
): Promise<Answer> {
  const { resultType, requestState, content } = first.result ?? {}
  if (resultType === 'input_required') {
    return await again(args, {
      requestState,
      inputResponses: { confirm: { action: 'accept', content: { confirm: true } } }
    })
  }
  const [, token] = /confirm_token "([^"]+)"/.exec(String(content?.[0]?.text)) ?? []
  return token === undefined ? first : await again({ ...args, confirm_token: token }, {})
}

/** Without what differs from one run to the next. */
export function plain (answer: Answer): Record<string, any> {
  return JSON.parse(
    JSON.stringify(answer)
      .replace(/"requestState":"[^"]+"/g, '"requestState":"<state>"')
      .replace(/confirm_token \\"[^"\\]+\\"/g, 'confirm_token <token>')
      .replace(/"taskId":"[^"]+"/g, '"taskId":"<task>"')
      .replace(/"(createdAt|lastUpdatedAt)":"[^"]+"/g, '"$1":"<time>"')
      .replace(/"expiresAt":"[^"]+"/g, '"expiresAt":"<time>"')
  ) as Record<string, any>
}
