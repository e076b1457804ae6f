import { readFileSync } from 'node:fs'
import t from 'tap'

t.test('the packages that have lists read them by the same grammar', async (t) => {
  const [one, other] = ['dual-auth/src/management', 'pay-reconcile/src/admin'].map((folder) => readFileSync(new URL(`../packages/${folder}/list-grammar.ts`, import.meta.url), 'utf8'))
  t.equal(one, other, 'change both copies of list-grammar.ts')
  const [test, otherTest] = ['dual-auth', 'pay-reconcile'].map((name) => readFileSync(new URL(`../packages/${name}/test/list-grammar.test.ts`, import.meta.url), 'utf8').replaceAll(/src\/\w+/g, 'src'))
  t.equal(test, otherTest, 'change both copies of list-grammar.test.ts')
})
