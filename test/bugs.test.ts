import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { areas } from './bugs/areas.ts'
import { insert } from './bugs/bug.ts'

for (const { name, home, bugs } of areas) {
  t.test(`each bug of ${name} can be put into the source`, async (t) => {
    t.equal(new Set(bugs.map(({ suffered }) => suffered)).size, bugs.length)
    for (const bug of bugs) {
      const { file, noticedBy, suffered } = bug
      const source = readFileSync(join(home, file), 'utf8')
      const { parseDiagnostics: faults } = ts.createSourceFile(file, insert(bug, source), ts.ScriptTarget.ESNext) as ts.SourceFile & { readonly parseDiagnostics: readonly ts.Diagnostic[] }
      t.strictSame(faults.map(({ messageText }) => messageText), [], suffered)
      t.ok(noticedBy === undefined || existsSync(join(home, noticedBy)), `${name} has no ${noticedBy}`)
    }
  })
}

t.test('a bug applies only where what it replaces occurs once', async (t) => {
  const bug = { suffered: 'b', file: 'a.ts', before: '(a)', after: "('$&')" }
  t.equal(insert(bug, 'f(a)'), "f('$&')")
  for (const source of ['f()', 'f(a); g(a)']) t.throws(() => insert(bug, source), { message: 'a.ts does not hold exactly once: (a) (b)' })
})
