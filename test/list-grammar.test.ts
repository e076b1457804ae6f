import { readFileSync } from 'node:fs'
import t from 'tap'

t.test('the packages that have lists read them by the same grammar, which the tests of dual-auth state', async (t) => {
  const [one, other] = ['dual-auth/src/management', 'pay-reconcile/src/admin'].map((folder) => readFileSync(new URL(`../packages/${folder}/list-grammar.ts`, import.meta.url), 'utf8'))
  t.equal(one, other, 'change both copies of list-grammar.ts')
})
