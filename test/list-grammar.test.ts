import { readFileSync } from 'node:fs'
import t from 'tap'

t.test('the packages that have lists read them by the same grammar', async (t) => {
  const [one, other] = ['dual-auth', 'pay-reconcile'].map((name) => readFileSync(new URL(`../packages/${name}/src/list-grammar.ts`, import.meta.url), 'utf8'))
  t.equal(one, other, 'change both copies of list-grammar.ts')
})
