import { confirm } from '../../../src/extensions/confirm/index.ts'
import type { Described } from '../described.ts'

const mcp = { confirm: 'Is that right?' }

export const pair: Described = {
  make: () => ({ extension: confirm({ fallback: 'token' }) }),
  routes: { ship: { mcp }, build: { mcp } },
  adds: {
    list: 'main|legacy|list|tools|ship|inputSchema|properties|confirm_token',
    call: 'main|modern|call|ship {"id":1}|first|result|inputRequests',
    error: 'main|legacy|call|ship {"id":1}|first|result|isError',
    contract: 'contract|tools|ship|confirm'
  }
}
