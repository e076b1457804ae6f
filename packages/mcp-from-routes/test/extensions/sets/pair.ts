import { sets } from '../../../src/extensions/sets/index.ts'
import type { Described } from '../described.ts'

export const pair: Described = {
  make: () => ({ extension: sets({ shop: { path: '/mcp/set', tags: ['shop'] } }) }),
  adds: {
    list: 'set|legacy|list|tools|ship',
    call: 'set|modern|call|ship {"id":1}|first|result|structuredContent',
    error: 'set|modern|error|unknown|error'
  }
}
