// npm run bench [-- seconds [rounds [warm-up]]]: all contenders side by side in one run, the median of the rounds of
// each, and the ratios to reach. `npm run bench -- --against REF [seconds [rounds [warm-up]]]` races another commit
// instead. A server that has run for seconds is still being compiled, the longer the more code it
// runs. Processors are twice as fast in one minute as in the next, so a ratio is the median of those of each short
// round.
import { parseArgs } from 'node:util'
import { raceAgainst } from './against.ts'
import { bootCost, CONTENDERS, type Contender } from './contenders.ts'
import { GENERATOR, launch, load, stop, type Running, type Sample } from './load.ts'
import { CALL, recordedCalls, smallest, type BenchRequest } from './messages.ts'

const { values: { against }, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' } }
})
const [seconds = 1, rounds = 9, warmUp = 6] = positionals.map(Number)
if (against !== undefined) {
  await raceAgainst(against, { seconds, rounds, warmUp })
  process.exit()
}
const GET: BenchRequest = { method: 'GET', path: '/things_7/abc', headers: { accept: 'application/json' } }

/** Requests that are measured against each other, each sent to its own contenders. */
interface Race {
  readonly message: string
  readonly runners: ReadonlyArray<readonly [Contender, BenchRequest]>
}

const race = (message: string, request: BenchRequest, contenders: readonly Contender[]): Race => ({
  message,
  runners: contenders.map((contender) => [contender, request])
})
const [, ...callers] = CONTENDERS
const calls = race('tools/call, smallest', CALL, callers)
/** Those that differ in how they call a route. */
const CALLING = new Set<Contender>([
  'bare POST',
  'bare loopback',
  'mcp-from-routes + inject',
  'SDK 2.x + light request'
])
const list = race(
  'tools/list',
  smallest('tools/list', {}),
  CONTENDERS.filter((contender) => !CALLING.has(contender))
)
const RACES: ReadonlyArray<readonly [tools: number, races: readonly Race[]]> = [
  [20, [
    { ...calls, runners: [['plain route', GET], ...calls.runners] },
    ...[...recordedCalls()].map(([client, request]) =>
      race(`tools/call, ${client}`, request, ['bare POST', 'mcp-from-routes'])
    ),
    list
  ]],
  [1000, [race(list.message, smallest('tools/list', {}), ['plain route', 'mcp-from-routes'])]]
]

const table: Array<Record<string, string | number>> = []
/** The answers a second of mcp-from-routes, as a part of those of a bare route. */
const parts = new Map<string, number>()

for (const [tools, races] of RACES) {
  const running = new Map<Contender, Running>()
  for (const contender of new Set(races.flatMap(({ runners }) => runners.map(([contender]) => contender)))) {
    running.set(contender, await launch(contender, tools))
  }
  for (const { message, runners } of races) {
    const all = await inTurns(runners.map(([contender, request]) => [running.get(contender) as Running, request]))
    const samples = new Map(runners.map(([contender], runner) => [contender, all[runner] as Sample[]]))
    // What does only what no other can be without.
    const reference = samples.get('bare POST') ?? samples.get('plain route') ?? []
    for (const [contender, taken] of samples) {
      const sample = median(taken)
      const toReference = middle(taken.map(({ rate }, round) => rate / (reference[round]?.rate ?? NaN)))
      const byCpu = middle(taken.map(({ cpu }, round) => (reference[round]?.cpu ?? NaN) / cpu))
      if (contender === 'mcp-from-routes' && tools === 20) parts.set(message, toReference)
      table.push({
        message,
        tools,
        server: contender,
        'answers/s': Math.round(sample.rate),
        'p50 ms': sample.p50,
        'p99 ms': sample.p99,
        'CPU µs/answer': Number(sample.cpu.toFixed(1)),
        ...(reference.length > 0
          ? { 'to bare': Number(toReference.toFixed(2)), 'by CPU': Number(byCpu.toFixed(2)) }
          : {})
      })
    }
  }
  for (const server of running.values()) await stop(server)
}

console.log(
  `Load from ${GENERATOR}, 16 connections, one server at a time, medians of ${rounds} rounds of ${seconds} s. ` +
    `Node.js ${process.version}.`
)
console.table(table)
const toBare = (message: string): number => parts.get(message) ?? NaN
const goals: Array<Record<string, string | number | boolean>> = []
const goal = (name: string, value: number, sign: '≥' | '≤', limit: number): void => {
  goals.push({
    goal: name,
    measured: Number(value.toFixed(2)),
    wanted: `${sign} ${limit}`,
    reached: sign === '≥' ? value >= limit : value <= limit
  })
}
goal('tools/call, smallest, against a bare POST of the same bytes', toBare(calls.message), '≥', 0.75)
for (const client of recordedCalls().keys()) {
  goal(`tools/call, ${client}, against a bare POST of the same bytes`, toBare(`tools/call, ${client}`), '≥', 0.65)
}
goal('tools/list of 20 against a static route of the same bytes', toBare(list.message), '≥', 0.5)
goal('tools/call at 1,000 tools against 20, CPU, beside the bare loopback', await cpuOfSizes(), '≤', 1.05)
goal('boot of 1,000 tools beyond that of the routes alone, s', await bootCost(1000), '≤', 1)
console.table(goals)

/** One server at a time, in turns, so that what else the machine does at a moment befalls all alike. */
async function inTurns (runners: ReadonlyArray<readonly [Running, BenchRequest]>): Promise<Sample[][]> {
  const samples: Sample[][] = runners.map(() => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [runner, [server, request]] of runners.entries()) {
      const sample = await load(server, request, round === 0 ? warmUp : seconds)
      if (round > 0) samples[runner]?.push(sample)
    }
  }
  return samples
}

/**
 * The processor time of a call among 1,000 tools, as a part of that among 20. A thousand routes without tools make
 * calls dearer as well: what that is, by the bare loopback, is taken out.
 */
async function cpuOfSizes (): Promise<number> {
  const servers: Running[] = []
  for (const contender of ['mcp-from-routes', 'bare loopback'] as const) {
    for (const tools of [1000, 20]) servers.push(await launch(contender, tools))
  }
  const samples = await inTurns(servers.map((server) => [server, CALL]))
  for (const server of servers) await stop(server)
  const [many = [], few = [], bareMany = [], bareFew = []] = samples.map((taken) => taken.map(({ cpu }) => cpu))
  const growth = (large: readonly number[], small: readonly number[]): number =>
    middle(large.map((cpu, round) => cpu / (small[round] ?? NaN)))
  return growth(many, few) / growth(bareMany, bareFew)
}

/** Figure by figure. */
function median (samples: readonly Sample[]): Sample {
  const of = (read: (sample: Sample) => number): number => middle(samples.map(read))
  return {
    rate: of(({ rate }) => rate),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    cpu: of(({ cpu }) => cpu)
  }
}

function middle (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN
}
