import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

t.test('the packages that have lists read them by the same grammar', async (t) => {
  const [one, other] = ['dual-auth', 'pay-reconcile'].map((name) => {
    const source = fileURLToPath(new URL(`../packages/${name}/src`, import.meta.url))
    const [path = ''] = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('list-grammar.ts'))
    return readFileSync(join(source, path), 'utf8')
  })
  t.equal(one, other, 'change both copies of list-grammar.ts')
})
