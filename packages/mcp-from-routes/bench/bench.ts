// npm run bench [-- seconds [rounds [warm-up]]]: all contenders side by side in one run, the best of the rounds of each, and
// the ratios to reach. A server that has run for seconds is still being compiled, the longer the more code it runs.
import { bootCost, CONTENDERS } from './contenders.ts'
import type { Contender } from './contenders.ts'
import { launch, load, stop } from './load.ts'
import type { Running, Sample } from './load.ts'

const [seconds = 2, rounds = 5, warmUp = 10] = process.argv.slice(2).map(Number)
const post = (method: string, params: object): { method: 'POST', path: string, headers: Record<string, string>, body: string } => ({
  method: 'POST',
  path: '/mcp',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
})
const CALL = post('tools/call', { name: 'tool_7', arguments: { id: 'abc' } })
const LIST = post('tools/list', {})
const ROUTE = { method: 'GET' as const, path: '/things_7/abc', headers: { accept: 'application/json' } }
const OPERATIONS = { 'tools/call': (contender: Contender) => contender === 'plain route' ? ROUTE : CALL, 'tools/list': () => LIST }

const table: Array<Record<string, string | number>> = []
const rates = new Map<string, Sample>()

for (const tools of [20, 1000]) {
  const running: Array<[Contender, Running]> = []
  for (const contender of CONTENDERS) running.push([contender, await launch(contender, tools)])
  for (const [operation, requestFor] of Object.entries(OPERATIONS)) {
    const contenders = running.filter(([contender]) => operation === 'tools/call' || !contender.startsWith('bare'))
    const samples = new Map<Contender, Sample[]>(contenders.map(([contender]) => [contender, []]))
    // In turns, so that what else the machine does at a moment befalls all alike.
    for (let round = 0; round <= rounds; round++) {
      for (const [contender, server] of contenders) {
        const sample = await load(server, requestFor(contender), { seconds: round === 0 ? warmUp : seconds })
        if (round > 0) samples.get(contender)?.push(sample)
      }
    }
    for (const [contender, taken] of samples) {
      const sample = best(taken)
      rates.set(`${operation} ${tools} ${contender}`, sample)
      table.push({ operation, tools, server: contender, 'answers/s': Math.round(sample.rate), 'p50 ms': sample.p50, 'p99 ms': sample.p99, 'CPU µs/answer': Math.round(sample.cpu) })
    }
  }
  for (const [, server] of running) await stop(server)
}

console.table(table)
const rate = (operation: string, tools: number, contender: Contender): number => rates.get(`${operation} ${tools} ${contender}`)?.rate ?? NaN
const cpu = (operation: string, tools: number, contender: Contender): number => rates.get(`${operation} ${tools} ${contender}`)?.cpu ?? NaN
const goals: Array<[string, number, string, boolean]> = []
const goal = (name: string, value: number, sign: '≥' | '≤', limit: number): void => {
  goals.push([name, value, `${sign} ${limit}`, sign === '≥' ? value >= limit : value <= limit])
}
goal('tools/call against the plain route, throughput', rate('tools/call', 20, 'mcp-from-routes') / rate('tools/call', 20, 'plain route'), '≥', 0.5)
const most = (name: string, bare: Contender, other: Contender): void => {
  goals.push([name, rate('tools/call', 20, bare) / rate('tools/call', 20, other), 'the most there is', true])
}
most('  bare loopback against the plain route', 'bare loopback', 'plain route')
most('  bare POST against the plain route', 'bare POST', 'plain route')
goal('tools/call against SDK 2.x + inject, throughput', rate('tools/call', 20, 'mcp-from-routes') / rate('tools/call', 20, 'SDK 2.x + inject'), '≥', 15)
goal('tools/call against SDK 1.x + inject, throughput', rate('tools/call', 20, 'mcp-from-routes') / rate('tools/call', 20, 'SDK 1.x + inject'), '≥', 15)
most('  bare loopback against SDK 2.x + inject', 'bare loopback', 'SDK 2.x + inject')
most('  bare POST against SDK 2.x + inject', 'bare POST', 'SDK 2.x + inject')
goal('tools/list of 20 against a static route of the same bytes', rate('tools/list', 20, 'mcp-from-routes') / rate('tools/list', 20, 'plain route'), '≥', 0.5)
goal('tools/call at 1,000 tools against 20, CPU', cpu('tools/call', 1000, 'mcp-from-routes') / cpu('tools/call', 20, 'mcp-from-routes'), '≤', 1.05)
goal('boot of 1,000 tools beyond that of the routes alone, s', await bootCost(1000), '≤', 1)
console.table(goals.map(([name, value, wanted, reached]) => ({ goal: name, measured: Number(value.toFixed(2)), wanted, reached })))

/** The round that was disturbed least. */
function best (samples: readonly Sample[]): Sample {
  return samples.reduce((a, b) => a.rate > b.rate ? a : b)
}
