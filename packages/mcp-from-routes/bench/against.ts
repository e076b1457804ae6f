import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { launch, load, stop, type Running } from './load.ts'
import { CALL, smallest, type BenchRequest } from './messages.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PLUGIN = 'packages/mcp-from-routes/dist/index.js'
const TOOLS = 20

/** The last asks a route without the plugin: it tells how alike both processes were. */
const MESSAGES: ReadonlyArray<readonly [name: string, request: BenchRequest]> = [
  ['tools/call', CALL],
  ['tools/list', smallest('tools/list', {})],
  ['the bare route', { method: 'GET', path: '/things_7/abc', headers: { accept: 'application/json' } }]
]

export interface RaceOptions {
  /** Of each load, in seconds. */
  readonly seconds: number
  /** Pairs of loads. */
  readonly rounds: number
  /** Of each side before the first round, in seconds. */
  readonly warmUp: number
}

/**
 * `npm run bench -w packages/mcp-from-routes -- --against REF`: builds the commit in a worktree, serves the same tools
 * with it and with this checkout, and loads both in turns. What counts is the ratio of processor time for each answer,
 * as the median of the pairs: what else the machine does befalls both.
 */
export async function raceAgainst (ref: string, { seconds, rounds, warmUp }: RaceOptions): Promise<void> {
  const before = mkdtempSync(join(tmpdir(), 'bench-against-'))
  execFileSync('git', ['worktree', 'add', '--detach', before, ref], { cwd: ROOT, stdio: 'ignore' })
  const sides: Running[] = []
  try {
    // Those of this checkout: only what is ours is raced.
    symlinkSync(join(ROOT, 'node_modules'), join(before, 'node_modules'))
    for (const checkout of [before, ROOT]) {
      execFileSync('npx', ['tsc', '-b', 'packages/mcp-from-routes', '--noCheck'], { cwd: checkout, stdio: 'inherit' })
      sides.push(await launch('mcp-from-routes', TOOLS, pathToFileURL(join(checkout, PLUGIN)).href))
    }
    console.log(`this checkout against ${ref}, load ${loadavg()[0]?.toFixed(1)}, Node.js ${process.version}`)
    for (const [name, request] of MESSAGES) console.log(await raced(name, request, sides, { seconds, rounds, warmUp }))
  } finally {
    for (const side of sides) await stop(side)
    execFileSync('git', ['worktree', 'remove', '--force', before], { cwd: ROOT })
    rmSync(before, { recursive: true, force: true })
  }
}

async function raced (
  name: string,
  request: BenchRequest,
  sides: readonly Running[],
  { seconds, rounds, warmUp }: RaceOptions
): Promise<string> {
  for (const side of sides) await load(side, request, warmUp)
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const cpu = [0, 0]
    // Each goes first as often as the other.
    for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) cpu[side] = (await load(sides[side]!, request, seconds)).cpu
    ratios.push(cpu[1]! / cpu[0]!)
  }
  const middle = ratios.toSorted((a, b) => a - b)[rounds >> 1]!
  return `${name}: ${middle.toFixed(3)} of its processor time (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`
}
