import { versionOf, type Client } from './client.ts'
import type { Exchange } from './recorder.ts'

/** What a client really sends for a message of the protocol. */
interface Envelope {
  readonly client: string
  readonly version: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** The headers that a server may look at. */
const KEPT = /^(accept|content-type|user-agent|traceparent|mcp-.*)$/

/** The first list and the first call of each client, without its key. */
export function envelopesOf (recorded: ReadonlyMap<Client, readonly Exchange[]>): readonly Envelope[] {
  return [...recorded].flatMap(([client, exchanges]) =>
    ['tools/list', 'tools/call'].flatMap((method) => {
      const exchange = exchanges.find(({ body }) => body?.method === method)
      if (exchange === undefined) return []
      const headers = Object.entries(exchange.headers).filter(([name]) => KEPT.test(name))
      return [{
        client: client.name,
        version: versionOf(client),
        headers: { ...Object.fromEntries(headers), 'x-api-key': 'KEY' },
        body: exchange.body
      }]
    })
  )
}
