import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportInterfaceV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Scope } from '../../../test/scope.ts'

/** The clients that agents are built with: both official lines, the second also held to the newest revision. */
export const clientLines = ['SDK 1.x', 'SDK 2.x, auto', 'SDK 2.x, 2026-07-28'] as const

/** What a test needs of a client, of either line. */
export interface Agent {
  listTools(): Promise<{ tools: Array<{ name: string, [key: string]: unknown }> }>
  callTool(call: { name: string, arguments: object }): Promise<ToolAnswer>
}

export interface ToolAnswer {
  isError?: boolean
  content: Array<{ type: string, text: string }>
  structuredContent?: any
}

/** @returns a connected client, closed when the test ends */
export async function connect (
  t: Scope,
  line: typeof clientLines[number],
  mcpUrl: string,
  headers: Readonly<Record<string, string>>
): Promise<Agent> {
  const info = { name: 'shop-test', version: '1.0.0' }
  const url = new URL(mcpUrl)
  const requestInit = { headers: { ...headers } }
  if (line === 'SDK 1.x') {
    const client = new ClientV1(info)
    // Its own transport's type does not fit its interface under exactOptionalPropertyTypes.
    await client.connect(new TransportV1(url, { requestInit }) as TransportInterfaceV1)
    t.teardown(async () => await client.close())
    return client as unknown as Agent
  }
  const client = new ClientV2(info, {
    versionNegotiation: { mode: line === 'SDK 2.x, auto' ? 'auto' : { pin: '2026-07-28' } }
  })
  await client.connect(new TransportV2(url, { requestInit }))
  t.teardown(async () => await client.close())
  return client as unknown as Agent
}

/** A list comes as `{ result }`. */
export function rowsOf ({ structuredContent }: ToolAnswer): Array<{ id: string, name: string }> {
  return structuredContent.result
}
