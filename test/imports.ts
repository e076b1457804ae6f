import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

export type Imports = ReadonlyMap<string, readonly string[]>

/** What each TypeScript file of a folder imports by a path, types too. All paths are from the folder. */
export function importsIn (folder: string): Imports {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts')).sort()
  return new Map(files.map((file) => [
    file,
    importsOf(join(folder, file)).filter((name) => name.startsWith('.')).map((name) => join(file, '..', name))
  ]))
}

/** What a file imports, types too, as it says it: `./file.ts`, `package`. */
export function importsOf (file: string): readonly string[] {
  return ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles.map(({ fileName }) => fileName)
}
