import { resources } from '../../../src/extensions/resources/index.ts'
import type { Described } from '../described.ts'

const tags = ['mcp-resource']

export const pair: Described = {
  make: () => ({ extension: resources() }),
  routes: {
    orders: { tags, mcp: { resource: { uri: 'shop://orders', name: 'all-orders', mimeType: 'application/json' } } },
    report: { tags, mcp: { resource: { uri: 'shop://reports/{id}', name: 'one-report' } } }
  },
  adds: {
    list: 'main|legacy|list|resources|shop://orders',
    call: 'main|modern|call|read|shop://reports/1|result|contents',
    error: 'main|modern|error|unreadable|error|code',
    contract: 'contract|resources|shop://orders'
  }
}
