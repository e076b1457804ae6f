import { startPayStandIn } from '../src/testing/index.ts'

/**
 * The payment provider of bench/bulk.ts: so many shops with so many customers and requests per second each, until its
 * parent goes.
 */
const [shops = 1, customers = 1, perSecond = 1] = process.argv.slice(2).map(Number)
const standIn = await startPayStandIn({
  port: 0,
  accounts: Object.fromEntries(
    Array.from(
      { length: shops },
      (
        _,
        shop
      ) => [`sk_test_bench${shop}`, {
        requestsPerSecond: perSecond,
        customers: Array.from(
          { length: customers },
          (_, n) => ({ id: `cus_${n}`, name: `Customer ${n}`, email: `c${n}@example.com` })
        )
      }]
    )
  )
})
process.on('disconnect', () => process.exit())
/** Each message is a request for the number of requests so far. */
process.on('message', () => process.send?.(standIn.requested))
process.send?.(standIn.port)
