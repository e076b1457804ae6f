import { readdirSync } from 'node:fs'
import t from 'tap'
import { importsIn, type Imports } from './imports.ts'

/** The files of the first circle that is found, in the order of its imports, ending where it began. */
function circleIn (imports: Imports): readonly string[] {
  const seen = new Set<string>()
  function from (file: string, way: readonly string[]): readonly string[] {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file]
    if (seen.has(file)) return []
    seen.add(file)
    for (const next of imports.get(file) ?? []) {
      const circle = from(next, [...way, file])
      if (circle.length > 0) return circle
    }
    return []
  }
  return [...imports.keys()].map((file) => from(file, [])).find((circle) => circle.length > 0) ?? []
}

for (const name of readdirSync('packages')) {
  t.test(`no files of ${name} import each other in a circle`, async (t) => {
    const imports = importsIn(`packages/${name}/src`)
    t.ok(imports.get('index.ts')?.length, 'its imports are read')
    t.strictSame([...imports.values()].flat().filter((file) => !imports.has(file)), [], 'each leads to a file')
    t.strictSame(circleIn(imports), [], 'move what both need into a file that imports neither')
  })
}

t.test('no rooms of the shop import each other in a circle', async (t) => {
  const rooms = new Map<string, readonly string[]>()
  const roomOf = (file: string): string => file.split('/', 1)[0]!
  for (const [file, imported] of importsIn('examples/shop/src')) {
    const room = roomOf(file)
    const others = imported.map(roomOf).filter((other) => other !== room)
    rooms.set(room, [...new Set([...rooms.get(room) ?? [], ...others])])
  }
  t.ok(rooms.get('catalog')?.includes('records'), 'their imports are read')
  t.strictSame(circleIn(rooms), [], 'move what both need into a room that imports neither')
})

const oneWay = {
  'a.ts': "import { b } from './b.ts'\nimport { c } from './room/c.ts'\n",
  'b.ts': "import type { C } from './room/c.ts'\n"
}
const forms = [
  "import { b } from '../b.ts'",
  "import type { B } from '../b.ts'",
  "import { type B } from '../b.ts'",
  "export * from '../b.ts'",
  "export type { B } from '../b.ts'",
  "type B = import('../b.ts').B",
  "const b = await import('../b.ts')"
]

for (const form of forms) {
  t.test(`a circle is found that is closed by: ${form}`, async (t) => {
    t.strictSame(
      circleIn(importsIn(t.testdir({ ...oneWay, room: { 'c.ts': `export const c = /["'\`]/\n${form}\n` } }))),
      ['b.ts', 'room/c.ts', 'b.ts']
    )
  })
}

t.test('two ways to one file are not a circle', async (t) => {
  t.strictSame(
    circleIn(importsIn(t.testdir({ ...oneWay, room: { 'c.ts': "import { join } from 'node:path'\n" } }))),
    []
  )
})
