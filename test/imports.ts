import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

export type Imports = ReadonlyMap<string, readonly string[]>

/** What each TypeScript file of a folder imports by a path, types too. All paths are from the folder. */
export function importsIn (folder: string): Imports {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts')).sort()
  return new Map(files.map((file) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, file), 'utf8'))
    return [
      file,
      importedFiles.filter(({ fileName }) => fileName.startsWith('.')).map(({ fileName }) => join(file, '..', fileName))
    ]
  }))
}
