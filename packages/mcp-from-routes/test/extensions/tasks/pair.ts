import { tasks } from '../../../src/extensions/tasks/index.ts'
import type { Described } from '../described.ts'

export const pair: Described = {
  make: () => ({ extension: tasks() }),
  routes: { build: { mcp: { task: { status: 'GET /reports/:id' } } } },
  adds: {
    list: 'main|legacy|list|tools|build|execution',
    call: 'main|modern|call|build {}|first|result|taskId',
    error: 'main|modern|error|untasked|error|code',
    contract: 'contract|tools|build|execution'
  }
}
