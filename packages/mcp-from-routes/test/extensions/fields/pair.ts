import { fields } from '../../../src/extensions/fields/index.ts'
import type { Described } from '../described.ts'

export const pair: Described = {
  make: () => ({ extension: fields() }),
  routes: { report: { mcp: { fields: true } } },
  adds: {
    list: 'main|legacy|list|tools|orders|inputSchema|properties|fields',
    call: 'main|modern|call|orders {"fields":["id"]}|first|result|structuredContent',
    error: 'main|modern|error|ship {"id":1,"fields":["nothing"]}|first|result|content',
    contract: 'contract|tools|ship|inputSchema|properties|fields'
  }
}
