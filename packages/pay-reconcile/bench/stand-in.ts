import { startPayStandIn } from '../src/testing/index.ts'

/** The payment provider of bench/bulk.ts, until the process is ended. */
await startPayStandIn({
  port: Number(process.argv[2] ?? 0),
  accounts: { sk_test_bench: { customers: Array.from({ length: 10_000 }, (_, n) => ({ id: `cus_${n + 1}`, name: `Customer ${n + 1}` })) } }
})
