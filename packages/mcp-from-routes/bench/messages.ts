import { readFileSync } from 'node:fs'

/** A request of a benchmark. Each `[<id>]` in the body is replaced by something new in every request. */
export interface BenchRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** What a client sent, as `npm run lab clients -- --record FILE` writes it. */
interface Envelope {
  readonly client: string
  readonly version: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly method: string, readonly params?: Readonly<Record<string, unknown>> }
}

/** The clients whose messages differ in what they carry. */
const CLIENTS = ['Claude Code', 'Codex', 'SDK 1.x', 'SDK 2.x, auto']
const PARAMS = { name: 'tool_7', arguments: { id: 'abc' } }

/** The smallest message of a method. */
export function smallest (method: string, params: object): BenchRequest {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return { method: 'POST', path: '/mcp', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) }
}

export const CALL = smallest('tools/call', PARAMS)

/** A call as each client sends it, by the client's name and version. */
export function recordedCalls (): ReadonlyMap<string, BenchRequest> {
  const recorded = JSON.parse(readFileSync(new URL('envelopes.json', import.meta.url), 'utf8')) as readonly Envelope[]
  const calls = CLIENTS.map((name) => {
    const envelope = recorded.find(({ client, body: { method } }) => client === name && method === 'tools/call')
    if (envelope === undefined) throw new Error(`envelopes.json has no call of ${name}`)
    return [`${name.replace(', auto', '')} (${envelope.version})`, requestOf(envelope)] as const
  })
  return new Map(calls)
}

function requestOf ({ headers, body }: Envelope): BenchRequest {
  const names = headers['mcp-name'] === undefined ? {} : { 'mcp-name': PARAMS.name }
  const text = JSON.stringify({ ...body, params: { ...body.params, ...PARAMS } })
  // What clients give to every call: the ids of a turn's calls and items.
  return {
    method: 'POST',
    path: '/mcp',
    headers: { ...headers, ...names },
    body: text.replace(/"(toolu|call|item)_\d+"/g, '"$1_[<id>]"')
  }
}
