import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { run } from './command.ts'
import { installCommandsOf, packages, programOf, toolOf } from './packages.ts'

/** Strict in everything that reaches the types of a dependency; `skipLibCheck` off reads the declarations themselves. */
const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: ['node'],
  rootDir: '.',
  outDir: 'compiled'
}

/**
 * Makes an empty project of somebody else in a directory, installs the packed packages there as their READMEs tell,
 * and puts the quickstarts into it: as JavaScript into `plain/`, and compiled from TypeScript into `compiled/`.
 *
 * @param directory - empty, outside of the repository, so that nothing is found there that was not installed
 */
export async function makeProject (directory: string): Promise<void> {
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const tarballs = new Map<string, string>()
  for (const { name, directory: cwd } of packages) {
    const [{ filename }] = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd }))
    tarballs.set(name, `./${filename}`)
  }
  const wanted = new Set(packages.flatMap(({ name }) => installCommandsOf(name)).map((name) => tarballs.get(name) ?? name))
  await run('npm', [
    'install', '--prefer-offline', '--no-audit', '--no-fund', ...wanted, toolOf('typescript'), toolOf('@types/node')
  ], { cwd: directory })

  mkdirSync(join(directory, 'plain'))
  for (const { name } of packages) {
    writeFileSync(join(directory, `${name}.ts`), programOf(name))
    writeFileSync(join(directory, 'plain', `${name}.js`), javascriptFrom(programOf(name)))
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
}

/** Compiles the quickstarts with the TypeScript that was installed, and reads every declaration that they reach. */
export async function compile (directory: string, { skipLibCheck }: { readonly skipLibCheck: boolean }): Promise<void> {
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.', '--skipLibCheck', String(skipLibCheck)], { cwd: directory })
}

/** The program without its types, otherwise as it is. */
function javascriptFrom (source: string): string {
  return ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
  }).outputText
}
