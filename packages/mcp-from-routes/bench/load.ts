import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import type { Contender } from './contenders.ts'

/** A running contender. */
export interface Running { readonly child: ChildProcess, readonly address: string }

/** What a contender has used so far. */
export interface Usage { readonly cpu: NodeJS.CpuUsage, readonly memory: NodeJS.MemoryUsage, readonly handles: number }

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

export async function launch (contender: Contender, tools: number): Promise<Running> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [contender, String(tools)], { execArgv: [...process.execArgv, '--expose-gc'] })
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

/** Loads a contender from this process for so many seconds, or with so many requests. */
export async function load (running: Running, request: autocannon.Request, { seconds, amount, connections = 10 }: { seconds?: number, amount?: number, connections?: number }): Promise<Sample> {
  const before = await usage(running)
  const result = await autocannon({ url: running.address, connections, ...seconds !== undefined && { duration: seconds }, ...amount !== undefined && { amount }, requests: [request] })
  const after = await usage(running)
  const answers = result['2xx']
  if (answers === 0 || result.non2xx > 0 || result.errors > 0) process.stderr.write(`${result.non2xx} answers were no 2xx, ${result.errors} requests failed\n`)
  const cpu = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
  return { rate: answers / result.duration, p50: result.latency.p50, p99: result.latency.p99, cpu: cpu / answers }
}
