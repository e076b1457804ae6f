import { startPayStandIn } from 'pay-reconcile/testing'
import { startPostgres } from '../test/postgres.ts'
import { call } from '../test/process.ts'
import type { Scope } from '../../../test/scope.ts'
import type { Drill, Found } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

const PAY_KEY = 'sk_test_drill'

/** More than a replica has connections to the database. */
const WAITING = 15

const CALLS = 'Calls of the payment provider get 502 within 10 s, and succeed when it answers again'

export const paymentProviderHangs = drillOf('hang', {
  name: 'payment-provider-hangs',
  title: 'The payment provider hangs',
  done: `The payment provider accepts requests, but does not answer. ${WAITING} calls wait for it at each replica.`
})

export const paymentProviderHtml = drillOf('html', {
  name: 'payment-provider-html',
  title: 'A proxy answers for the payment provider',
  done: `Requests to the payment provider get the HTML page of a proxy, with 502. ${WAITING} calls ask it at each ` +
    'replica.'
})

function drillOf (kind: 'hang' | 'html', words: Pick<Drill, 'name' | 'title' | 'done'>): Drill {
  return {
    ...words,
    may: { statuses: [], pause: 2, recovers: 1 },
    holds: [CALLS],
    logs: ['"needed":"payment_provider"'],
    without: () => withoutServers,
    run: async (t) => await fail(t, kind)
  }
}

async function fail (t: Scope, kind: 'hang' | 'html'): Promise<Found> {
  const provider = await startPayStandIn({ accounts: { [PAY_KEY]: {} }, log: () => {} })
  t.teardown(provider.close)
  const { url } = await startPostgres(t)
  const at = await exercise(t, { url, settings: { PAY_API_URL: provider.url, MAX_CONCURRENT_CALLS: '50' } })
  const pay = async (baseUrl: string): Promise<number> =>
    (await call('POST', `${baseUrl}/shops/${at.shop}/pay/key/verify`, { headers: at.machine })).status
  await call('PUT', `${at.baseUrl}/shops/${at.shop}/pay/key`, {
    headers: at.machine,
    body: { pay_secret_key: PAY_KEY }
  })
  const end = provider.fault({ kind })
  const start = performance.now()
  const statuses = await Promise.all(
    at.replicas.flatMap(({ baseUrl }) => Array.from({ length: WAITING }, async () => await pay(baseUrl)))
  )
  const waited = performance.now() - start
  end()
  at.mended()
  at.hold(CALLS, statuses.every((status) => status === 502) && waited < 10_000 && await pay(at.baseUrl) === 200)
  await at.serve()
  return await at.end()
}
