import { card } from '../../../src/extensions/card/index.ts'
import type { Described } from '../described.ts'

export const pair: Described = {
  make: () => ({ extension: card({ name: 'com.example/test', description: 'A shop.' }) }),
  adds: { list: 'card|body|name', contract: 'contract|cards' }
}
