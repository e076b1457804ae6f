import { useQuery } from '@tanstack/react-query'
import type { Call } from '../api/http.ts'
import { settings } from '../settings.ts'
import { useViewer } from '../viewer.tsx'
import { type Listed, type Tool, toolFrom } from './tool.ts'

/** The tools of the server, by the same request that agents send. None where tools are disabled. */
export function useTools () {
  const { call } = useViewer()
  return useQuery({
    queryKey: ['tools'],
    queryFn: async () => settings.mcp === undefined ? [] : await readTools(call),
    staleTime: Infinity
  })
}

interface Listing {
  readonly result?: { readonly tools: readonly Listed[], readonly nextCursor?: string }
}

async function readTools (call: Call): Promise<readonly Tool[]> {
  const headers = new Headers({ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' })
  const tools: Tool[] = []
  for (let cursor: string | undefined, page = 0; page === 0 || (cursor !== undefined && page < 20); page += 1) {
    const data = { jsonrpc: '2.0', id: page, method: 'tools/list', params: cursor === undefined ? {} : { cursor } }
    const { json } = await call<Listing>('/mcp', { method: 'POST', headers, data, isRead: true })
    tools.push(...(json.result?.tools ?? []).map(toolFrom))
    cursor = json.result?.nextCursor
  }
  return tools
}
