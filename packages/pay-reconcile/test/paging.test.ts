import t from 'tap'
import { pagingAfter, pagingFor } from '../src/reconcile/paging.ts'
import type { Paging } from '../src/index.ts'

t.test('fewer than ten linked accounts are read one by one', async t => {
  t.equal(pagingFor(0), null)
  t.equal(pagingFor(9), null)
  t.strictSame(pagingFor(10), { after: null, left: 10, lost: 0, ended: false })
})

const paging = (fields: Partial<Paging>): Paging => ({ after: 'cus_1', left: 1000, lost: 0, ended: false, ...fields })

for (const { title, from, found, next, gives } of [
  { title: 'a page that shows accounts is worth its request', from: {}, found: 100, next: 'cus_2', gives: { after: 'cus_2', left: 900 } },
  { title: 'one that shows none is lost', from: {}, found: 0, next: 'cus_2', gives: { after: 'cus_2', lost: 1 } },
  { title: 'what is lost is won back', from: { lost: 5 }, found: 4, next: 'cus_2', gives: { after: 'cus_2', left: 996, lost: 2 } },
  { title: 'but nothing is saved up', from: { lost: 1 }, found: 90, next: 'cus_2', gives: { after: 'cus_2', left: 910 } },
  { title: 'pages end when a tenth of what is left would be lost', from: { left: 100, lost: 8 }, found: 0, next: 'cus_2', gives: { after: 'cus_2', left: 100, lost: 9 } },
  { title: 'and not before', from: { left: 100, lost: 9 }, found: 0, next: 'cus_2', gives: { after: 'cus_2', left: 100, lost: 10, ended: true } },
  { title: 'they end after the last one', from: {}, found: 0, next: null, gives: { lost: 1, ended: true } },
  { title: 'they end when hardly any account is left', from: { left: 109 }, found: 100, next: 'cus_2', gives: { after: 'cus_2', left: 9, ended: true } },
  { title: 'an unfinished page is read again', from: { lost: 3 }, found: 60, next: undefined, gives: { left: 940, lost: 3 } },
  { title: 'accounts that were linked meanwhile are no debt', from: { left: 3 }, found: 7, next: 'cus_2', gives: { after: 'cus_2', left: 0, ended: true } }
]) {
  t.test(title, async t => t.strictSame(pagingAfter(paging(from), found, next), paging(gives)))
}

t.test('whatever the customers are, reading in pages costs at most a tenth more than one by one, and a page', async t => {
  const wrong: string[] = []
  for (let accounts = 0; accounts <= 2000; accounts = Math.ceil(accounts * 1.3) + 1) {
    for (const perPage of [0, 0.01, 0.1, 0.5, 0.9, 1, 1.1, 2, 10, 100]) {
      for (const unrelated of [0, 1, 50, 5000]) {
        let state = pagingFor(accounts)
        let pages = 0
        let shown = 0
        while (state && !state.ended && pages < 1_000_000) {
          pages++
          const found = pages <= unrelated ? 0 : Math.min(Math.floor((pages - unrelated) * perPage) - shown, accounts - shown)
          shown += found
          state = pagingAfter(state, found, 'cus_2')
        }
        const requests = pages + accounts - shown
        if (requests > accounts * 1.1 + 1) wrong.push(`${accounts} accounts, ${perPage} a page after ${unrelated}: ${requests} requests`)
      }
    }
  }
  t.strictSame(wrong, [])
})
