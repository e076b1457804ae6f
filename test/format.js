// `npm run format` lays out sources and tests, and copies the programs of pages from their files. With `--check` it
// names the files that differ, and changes nothing. What it decides, eslint.config.js leaves alone.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createFromBuffer } from '@dprint/formatter'
import { getPath } from '@dprint/typescript'

/** neostandard's look: https://dprint.dev/plugins/typescript/config has what each option means. */
const LAYOUT = {
  semiColons: 'asi',
  quoteStyle: 'preferSingle',
  quoteProps: 'preserve',
  trailingCommas: 'never',
  useBraces: 'maintain',
  newLineKind: 'lf',
  'arrowFunction.useParentheses': 'force',
  'binaryExpression.operatorPosition': 'sameLine',
  'conditionalExpression.operatorPosition': 'nextLine',
  'conditionalType.preferSingleLine': true,
  'exportDeclaration.sortNamedExports': 'maintain',
  'importDeclaration.sortNamedImports': 'maintain',
  'jsx.quoteStyle': 'preferSingle',
  'module.sortExportDeclarations': 'maintain',
  'module.sortImportDeclarations': 'maintain',
  'typeLiteral.separatorKind': 'comma',
  ...Object.fromEntries(
    ['constructor', 'functionDeclaration', 'functionExpression', 'getAccessor', 'method', 'setAccessor']
      .map((kind) => [`${kind}.spaceBeforeParentheses`, true])
  )
}

const isCheck = process.argv.includes('--check')
const formatter = createFromBuffer(readFileSync(getPath()))
formatter.setConfig({ lineWidth: 120, indentWidth: 2 }, LAYOUT)
const faults = formatter.getConfigDiagnostics()
if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join('\n'))

/** A program on a page, which is that of a file. */
const PROGRAM = /^(`{3,})(\w+) source="([^"]+)"\n[^]*?^\1$/gm

const changed = filesLike('*.ts', '*.tsx', '*.js').filter((file) => rewrite(file, formatted))
changed.push(...filesLike('*.md').filter((file) => rewrite(file, withPrograms)))
for (const file of changed) console.log(isCheck ? `${file} is not as npm run format writes it` : file)
if (isCheck && changed.length > 0) process.exitCode = 1

function filesLike (...patterns) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...patterns]
  return execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter((file) => file !== '' && existsSync(file))
}

/** @returns whether the file is another afterwards, or would be */
function rewrite (file, change) {
  const text = readFileSync(file, 'utf8')
  const changed = change(file, text)
  if (changed !== text && !isCheck) writeFileSync(file, changed)
  return changed !== text
}

function formatted (file, text) {
  return formatter.formatText({ filePath: file, fileText: text })
}

function withPrograms (_file, text) {
  return text.replace(PROGRAM, (_program, ticks, kind, source) => {
    return `${ticks}${kind} source="${source}"\n${readFileSync(source, 'utf8')}${ticks}`
  })
}
