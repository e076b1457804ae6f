import { Agent, get } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { seededData, start } from './process.ts'

const REQUESTS = 8000
const AT_ONCE = 4

/** How much of what came since the last collection of young objects survives one, at most: what is under way does. */
const SURVIVES = 0.15

const FLAGS = ['--trace-gc', '--max-semi-space-size=8']

t.test('a request is forgotten once it is answered: what only a full collection frees makes all others wait', async (t) => {
  const { baseUrl, output } = await start(t, 'demo/start', await seededData(t), undefined, FLAGS)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const probe = async (): Promise<void> => {
    const [response] = await once(get(`${baseUrl}/healthz`, { agent }), 'response')
    await text(response)
  }
  const before = output().length
  for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, probe))
  const survive = survivals(output().slice(before)).sort((a, b) => a - b)
  t.ok(survive.length >= 5, `${survive.length} collections`)
  t.ok(survive[Math.floor(survive.length / 2)]! < SURVIVES, survive.map((share) => share.toFixed(2)).join())
})

/** How much survives each collection of young objects, of what came since the one before. */
function survivals (log: string): number[] {
  const sizes = [...log.matchAll(/ms: (Scavenge|Mark-Compact).*? ([\d.]+) \([\d.]+\) -> ([\d.]+) /g)]
  return sizes.slice(1).flatMap(([, kind, from, to], index) => {
    const last = Number(sizes[index]![3])
    return kind === 'Scavenge' ? (Number(to) - last) / (Number(from) - last) : []
  })
}
