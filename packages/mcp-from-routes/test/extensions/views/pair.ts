import { views } from '../../../src/extensions/views/index.ts'
import type { Described } from '../described.ts'

const mcp = { view: 'GET /page' }

export const pair: Described = {
  make: () => ({ extension: views() }),
  routes: {
    ship: { mcp },
    orders: { mcp },
    build: { mcp },
    other: { mcp: { visibility: ['app'] } },
    page: { tags: ['mcp-resource'], mcp: { resource: { uri: 'ui://shop/page', name: 'page' } } }
  },
  adds: {
    list: 'main|legacy|list|tools|ship|_meta|ui',
    call: 'main|modern|call|read|ui://shop/page|result|contents',
    error: 'main|modern|error|readByGuest|ui://shop/page|error|code',
    contract: 'contract|tools|ship|_meta|ui'
  }
}
