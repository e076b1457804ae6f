import { existsSync, readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Described } from '../described.ts'
import { expected } from './expected.ts'
import { MEANINGS } from './meanings.ts'
import { observe, type Observed } from './world.ts'

/*
 * Every two extensions in one application. What one adds to an application that has no other, it adds beside each other
 * one, too: what a pair shows is what both show alone, put together. Where a pair has a meaning of its own,
 * `meanings.ts` says which.
 */

const folder = new URL('../', import.meta.url)
const rooms = readdirSync(folder).filter((name) => existsSync(new URL(`${name}/pair.ts`, folder))).sort()
const described = new Map<string, Described>()
for (const room of rooms) {
  const { pair } = await import(new URL(`${room}/pair.ts`, folder).href) as { pair: Described }
  described.set(room, pair)
}
/** The fewest messages of an application. */
const MESSAGES = 60

async function seenWith (t: Test, ...names: readonly string[]): Promise<Observed> {
  const all = Object.fromEntries(names.map((name) => [name, described.get(name)!]))
  const { seen, complaints, exchanges } = await observe(t, all)
  t.strictSame(complaints, [], `what ${names.join(' and ')} records`)
  t.ok(exchanges >= MESSAGES, 'messages were sent')
  return seen
}

function at (seen: unknown, path: string): unknown {
  return path.split('|').reduce<unknown>((part, name) => Reflect.get(Object(part), name), seen)
}

/** One kind of observation, wherever it is made. */
function of (kind: 'list' | 'call' | 'error' | 'contract', { contract, card, ...endpoints }: Observed): unknown {
  if (kind === 'contract') return contract
  const seen = Object.entries(endpoints).flatMap(([path, eras]) =>
    Object.entries(eras).map((
      [era, seen]
    ) => [`${path}, ${era}`, kind === 'list' ? [seen.greeting, seen.list] : seen[kind]])
  )
  return { ...kind === 'list' && { card }, ...Object.fromEntries(seen) }
}

const alone = new Map<string, Observed>()

t.test('each room says what it adds', async (t) => {
  const sources = readdirSync(new URL('../../../src/extensions', import.meta.url), { withFileTypes: true })
  t.strictSame(rooms, sources.flatMap((entry) => entry.isDirectory() ? [entry.name] : []).sort())
  const nothing = await seenWith(t)
  alone.set('', nothing)
  for (const [name, { adds }] of described) {
    const seen = await seenWith(t, name)
    alone.set(name, seen)
    for (const [observation, path] of Object.entries(adds)) {
      if (path !== 'watch') t.notSame(at(seen, path), at(nothing, path), `${name}, ${observation}: ${path}`)
    }
  }
})

for (const [index, one] of rooms.entries()) {
  for (const other of rooms.slice(index + 1)) {
    t.test(`${one} and ${other}`, async (t) => {
      const seen = await seenWith(t, one, other)
      const wanted = expected([one, other], alone)
      const meaning = MEANINGS[`${one} ${other}`]
      if (meaning !== undefined) {
        const before = JSON.stringify(wanted)
        meaning(wanted, Object.fromEntries(alone))
        t.not(JSON.stringify(wanted), before, 'its meaning is not what both have without it')
      }
      for (const observation of ['list', 'call', 'error', 'contract'] as const) {
        t.strictSame(of(observation, seen), of(observation, wanted), observation)
      }
    })
  }
}
