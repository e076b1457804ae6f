import { startPayStandIn } from '../src/testing/index.ts'

/** The payment provider of bench/bulk.ts, with so many customers, until its parent goes. */
const count = Number(process.argv[2])
const standIn = await startPayStandIn({
  port: 0,
  accounts: { sk_test_bench: { customers: Array.from({ length: count }, (_, n) => ({ id: `cus_${n + 1}`, name: `Customer ${n + 1}` })) } }
})
process.on('disconnect', () => process.exit())
process.send?.(standIn.port)
