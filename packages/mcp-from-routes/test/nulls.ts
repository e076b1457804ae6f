import type { Test } from 'tap'

const P = 'io.modelcontextprotocol/'
export const ENVELOPE = {
  [`${P}protocolVersion`]: '2026-07-28',
  [`${P}clientCapabilities`]: { elicitation: { form: {} }, extensions: { [`${P}tasks`]: {} } },
  [`${P}clientInfo`]: { name: 'c', version: '1' },
  progressToken: 'p'
}

/** The paths of all members. */
function* pathsOf (value: object, above: readonly string[] = []): Generator<readonly string[]> {
  for (const [name, member] of Object.entries(value)) {
    yield [...above, name]
    if (typeof member === 'object' && member !== null) yield* pathsOf(member as object, [...above, name])
  }
}

function withNull (message: object, path: readonly string[]): object {
  const copy = structuredClone(message)
  const above = path.slice(0, -1).reduce<object>((value, name) => Reflect.get(value, name) as object, copy)
  Reflect.set(above, path.at(-1) as string, null)
  return copy
}

/** The member makes no message, so the error is about that; else it is one of its parameters. */
const isFrame = (path: readonly string[]): boolean =>
  path.length === 1 || (path.length === 2 && path[1] === '_meta') || path.at(-1) === 'progressToken'

/** Sends messages with null for each of their members, and checks that each is the error of its kind. */
export async function refusesNulls (
  t: Test,
  url: URL,
  era: string,
  messages: Readonly<Record<string, object>>
): Promise<void> {
  for (const [method, rest] of Object.entries(messages)) {
    const message = { jsonrpc: '2.0', method, ...rest }
    const headers = era === 'modern'
      ? {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        .../^t.*s\/(call|get|cancel|update)$/.test(method) && { 'mcp-name': method === 'tools/call' ? 'get' : 'a' }
      }
      : { ...method !== 'initialize' && { 'mcp-protocol-version': '2025-11-25' } }
    for (const path of pathsOf(message)) {
      const label = `${method} ${path.join('.')}`
      const response = await fetch(url, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(withNull(message, path))
      })
      const text = await response.text()
      const { error } = JSON.parse(text) as { error: { code: number, message: string } }
      t.equal(error.code, isFrame(path) ? -32600 : -32602, `${label}: ${text}`)
      t.notMatch(error.message, /[{\n]|Cannot read/, label)
      t.equal(
        response.status === 400 || (response.status === 200 && !isFrame(path)),
        true,
        `${label}: ${response.status}`
      )
    }
  }
}
