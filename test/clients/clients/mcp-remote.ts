import { asContent, program, type Client } from '../client.ts'

/** A bridge for clients that only start programs; here such a client is the official SDK. */
export const mcpRemote: Client = {
  id: 'mcp-remote',
  name: 'mcp-remote',
  packages: ['mcp-remote@0.15.1', '@modelcontextprotocol/sdk@1.32.2'],
  configure: '`npx mcp-remote@0.15 http://localhost:8080/mcp --header X-API-Key:shop_…`',
  note: 'To sign in: the same without `--header`. With a revoked key it opens a browser, and the call waits.',
  isNewest: false,
  asksForProgress: false,
  showsInstructions: true,
  start: program('mcp-remote'),
  shows: asContent,
  // It opens a browser, and waits for a person.
  instead: { revoked: ['<nothing>'] }
}
