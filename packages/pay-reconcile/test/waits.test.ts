import t from 'tap'
import { isProviderError, providerError } from '../src/errors.ts'
import type { ShopWork } from '../src/reconcile/shop-work.ts'
import { withWaits } from '../src/reconcile/waits.ts'
import { standingTime } from './time.ts'

const never = new AbortController().signal

/** A call of a run to a provider that answers with these faults one after another, and then well. */
async function call (faults: ReadonlyArray<'rate_limited' | 'unavailable' | 'timeout'>): Promise<string> {
  const work = {
    key: { current: 'key', replaced: async () => false },
    rateLimitOf: () => ({ pause: () => {} }),
    ended: never,
    interrupted: never
  }
  const left = [...faults]
  return await withWaits(work as unknown as ShopWork, async () => {
    const fault = left.shift()
    if (fault !== undefined) throw providerError(fault)
    return 'ok'
  }).then((answer) => answer ?? 'interrupted', (error) => isProviderError(error) ? error.fault : String(error))
}

const [limited, closed] = ['rate_limited', 'unavailable'] as const

for (
  const [title, faults, ends] of [
    ['as long as the provider limits the rate', Array(50).fill(limited), 'ok'],
    ['three times while the gate is closed', [closed, closed, closed], 'ok'],
    ['no fourth time', [closed, closed, closed, closed], closed],
    [
      'for a closed gate also after many limits of the rate',
      [limited, limited, limited, limited, closed, limited],
      'ok'
    ],
    ['for no fault of another kind', ['timeout'], 'timeout']
  ] as const
) {
  t.test(`a call of a run waits ${title}`, async (t) => {
    standingTime(t)
    t.equal(await call(faults), ends)
  })
}
