import { search } from '../../../src/extensions/search/index.ts'
import type { Described } from '../described.ts'

export const pair: Described = {
  make: () => ({ extension: search({ path: '/mcp/search' }) }),
  adds: {
    list: 'search|legacy|list|tools|search_tools',
    call: 'search|modern|call|ship {"id":1}|first|result|structuredContent',
    error: 'search|modern|error|unknown|error',
    contract: 'contract|tools|search_tools'
  }
}
