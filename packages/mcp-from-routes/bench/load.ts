import { execFile, fork, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import type { Contender } from './contenders.ts'
import type { BenchRequest } from './messages.ts'

/** A running contender. */
export interface Running {
  readonly child: ChildProcess
  readonly address: string
}

/** What a contender has used so far. */
export interface Usage {
  readonly cpu: NodeJS.CpuUsage
  readonly memory: NodeJS.MemoryUsage
  readonly handles: number
}

/** One measurement. */
export interface Sample {
  /** Answers per second. */
  readonly rate: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Of the server, per answer, in microseconds. */
  readonly cpu: number
}

/** What a load generator counted. */
interface Counted {
  readonly answers: number
  readonly failed: number
  readonly rate: number
  readonly p50: number
  readonly p99: number
}

/** As many as a small fleet of agents keeps busy. */
const CONNECTIONS = 16

/** What makes the load: wrk where it is installed, because a generator in Node.js is slower than the servers. */
export const GENERATOR = spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'autocannon'

/** @param plugin - the URL of the built plugin; default: the sources of this checkout */
export async function launch (contender: Contender, tools: number, plugin?: string): Promise<Running> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [contender, String(tools)], {
    execArgv: [...process.execArgv, '--expose-gc'],
    env: { ...process.env, ...plugin !== undefined && { BENCH_PLUGIN: plugin } }
  })
  const [{ address }] = await once(child, 'message') as [{ address: string }]
  return { child, address }
}

/** @param collect - its garbage first, for what it holds; not between measurements, which it would make slow */
export async function usage ({ child }: Running, { collect = false } = {}): Promise<Usage> {
  const answer = once(child, 'message')
  child.send(collect ? 'collect' : 'usage')
  const [message] = await answer as [Usage]
  return message
}

export async function stop ({ child }: Running): Promise<void> {
  const gone = once(child, 'exit')
  child.disconnect()
  await gone
}

/** Loads a contender for so many seconds. */
export async function load (running: Running, request: BenchRequest, seconds: number): Promise<Sample> {
  return measured(
    running,
    () => GENERATOR === 'wrk' ? wrk(running, request, seconds) : cannon(running, request, { duration: seconds })
  )
}

/** Loads a contender with so many requests. */
export async function loadAmount (running: Running, request: BenchRequest, amount: number): Promise<Sample> {
  return measured(running, () => cannon(running, request, { amount }))
}

async function measured (running: Running, run: () => Promise<Counted>): Promise<Sample> {
  const before = (await usage(running)).cpu
  const { answers, failed, rate, p50, p99 } = await run()
  const after = (await usage(running)).cpu
  if (answers === 0) throw new Error('no request was answered')
  if (failed > 0) process.stderr.write(`${failed} requests failed\n`)
  return { rate, p50, p99, cpu: (after.user + after.system - before.user - before.system) / answers }
}

async function cannon (
  { address }: Running,
  request: BenchRequest,
  end: { duration: number } | { amount: number }
): Promise<Counted> {
  let count = 0
  // Its own replacement announces a wrong length if there are several ids.
  const each = request.body?.includes('[<id>]')
    ? {
      setupRequest: (prepared: object) => ({ ...prepared, body: request.body!.replaceAll('[<id>]', String(++count)) })
    }
    : {}
  const { '2xx': answers, non2xx, errors, duration, latency } = await autocannon({
    url: address,
    connections: CONNECTIONS,
    requests: [{ ...request, ...each }],
    ...end
  })
  return { answers, failed: non2xx + errors, rate: answers / duration, p50: latency.p50, p99: latency.p99 }
}

async function wrk ({ address }: Running, request: BenchRequest, seconds: number): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    const script = join(folder, 'request.lua')
    writeFileSync(script, luaOf(request))
    const { stdout } = await promisify(execFile)('wrk', [
      '--threads',
      '1',
      '--connections',
      String(CONNECTIONS),
      '--duration',
      `${seconds}s`,
      '--latency',
      '--script',
      script,
      address
    ])
    const counts = /requests (\d+) failed (\d+) duration (\d+) p50 (\d+) p99 (\d+)/.exec(stdout)
    if (counts === null) throw new Error(`wrk printed ${stdout}`)
    const [requests = NaN, failed = NaN, duration = NaN, p50 = NaN, p99 = NaN] = counts.slice(1).map(Number)
    return {
      answers: requests - failed,
      failed,
      rate: (requests - failed) * 1e6 / duration,
      p50: p50 / 1000,
      p99: p99 / 1000
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The request as a script of wrk, which prints what it counted on a line of its own. */
function luaOf ({ method, path, headers, body = '' }: BenchRequest): string {
  const set = Object.entries(headers).map(([name, value]) =>
    `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`
  )
  // Requests that are all alike are written once.
  const each = body.includes('[<id>]')
    ? [
      'local count = 0',
      'function request() count = count + 1; return wrk.format(nil, nil, nil, (wrk.body:gsub("%[<id>%]", count))) end'
    ]
    : []
  return [
    `wrk.method = "${method}"`,
    `wrk.path = ${JSON.stringify(path)}`,
    `wrk.body = ${JSON.stringify(body)}`,
    ...set,
    ...each,
    'function done(summary, latency)',
    '  local e = summary.errors',
    '  print(string.format("requests %d failed %d duration %d p50 %d p99 %d", summary.requests, e.status + ' +
    'e.connect + e.read + e.write + e.timeout, summary.duration, latency:percentile(50), ' +
    'latency:percentile(99)))',
    'end'
  ].join('\n')
}
