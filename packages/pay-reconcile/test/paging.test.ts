import t from 'tap'
import { pagingAfter, pagingFor } from '../src/reconcile/paging.ts'

t.test('reading in pages costs at most a tenth more than one by one, and a page, whatever the customers', async (t) => {
  const wrong: string[] = []
  for (let accounts = 0; accounts <= 2000; accounts = Math.ceil(accounts * 1.3) + 1) {
    for (const perPage of [0, 0.01, 0.1, 0.5, 0.9, 1, 1.1, 2, 10, 100]) {
      for (const unrelated of [0, 1, 50, 5000]) {
        let state = pagingFor(accounts)
        let pages = 0
        let shown = 0
        while (state && !state.ended && pages < 1_000_000) {
          pages++
          const found = pages <= unrelated
            ? 0
            : Math.min(Math.floor((pages - unrelated) * perPage) - shown, accounts - shown)
          shown += found
          state = pagingAfter(state, found, 'cus_2')
        }
        const requests = pages + accounts - shown
        if (requests > accounts * 1.1 + 1) {
          wrong.push(`${accounts} accounts, ${perPage} a page after ${unrelated}: ${requests} requests`)
        }
      }
    }
  }
  t.strictSame(wrong, [])
})
