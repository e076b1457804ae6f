import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'

const packages = fileURLToPath(new URL('../packages', import.meta.url))

for (const name of readdirSync(packages)) {
  // TypeScript with `moduleResolution: node` knows no imports of a package by `#`.
  t.test(`no public declaration of ${name} imports a shared file`, async (t) => {
    const { exports } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
    const files: string[] = Object.values<{ readonly types: string }>(exports)
      .map(({ types }) => join(packages, name, types))
    for (const file of files) {
      const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'))
      for (const { fileName } of importedFiles) {
        t.notMatch(fileName, /^#/, file)
        const imported = join(dirname(file), fileName.replace(/\.[jt]s$/, '.d.ts'))
        if (fileName.startsWith('.') && existsSync(imported) && !files.includes(imported)) files.push(imported)
      }
    }
    t.ok(files.length > Object.keys(exports).length, 'declarations are read')
  })
}
