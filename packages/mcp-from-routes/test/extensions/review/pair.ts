import { join } from 'node:path'
import { review } from '../../../src/extensions/review/index.ts'
import type { Described } from '../described.ts'

/**
 * The file renames a tool, publishes a route that has no tag, and says for it what another extension reads. The route
 * that it does not publish may still be a resource.
 */
export const pair: Described = {
  files (names) {
    const routes = [
      { route: 'POST /parcels', publish: true, name: 'dispatch', title: 'Dispatch' },
      { route: 'GET /page', publish: false, name: 'page' },
      {
        route: 'POST /extra',
        publish: true,
        name: 'extra',
        ...names.includes('confirm') && { confirm: 'Says the file' },
        ...names.includes('fields') && { fields: { names: ['isExtra'] } }
      }
    ]
    return { 'mcp-routes.json': JSON.stringify({ review: 1, routes }) }
  },
  make: (_t, folder) => ({ extension: review(join(folder, 'mcp-routes.json')) }),
  adds: {
    list: 'main|legacy|list|tools|ship|name',
    call: 'main|modern|call|extra {}|first|result',
    error: 'main|legacy|error|oldName|error',
    contract: 'contract|tools|extra'
  }
}
