import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { contractFromText, diffContracts, textFromContract, textOfFinding } from '../contract/index.ts'
import { contractFromModule } from './app.ts'
import { commandFrom, usage } from './arguments.ts'
import type { Command } from './arguments.ts'
import { checkContract } from './check.ts'
import { gitIn } from './git.ts'
import { annotationsFromReport, textFromReport } from './report.ts'

interface Answer { readonly code: number, readonly out?: string, readonly err?: string }

const { code, out = '', err = '' } = await answer()
// The module may have opened what keeps a process alive, such as a pool of connections.
process.stderr.write(err, () => process.stdout.write(out, () => process.exit(code)))

async function answer (): Promise<Answer> {
  try {
    const command = commandFrom(process.argv.slice(2))
    if (command === undefined) return { code: 0, out: usage }
    return command.action === 'write' ? await write(command) : await check(command)
  } catch (error) {
    return { code: 2, err: `${error instanceof Error ? error.message : String(error)}\n` }
  }
}

async function write ({ module, contract, json }: Command): Promise<Answer> {
  const file = resolve(contract)
  const tools = await contractFromModule(module, process.cwd())
  const before = await readFile(file, 'utf8').catch(() => undefined)
  const { bump, findings } = diffContracts(before === undefined ? new Map() : contractFromText(before, contract), tools)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, textFromContract(tools))
  if (json) return { code: 0, out: `${JSON.stringify({ file: contract, tools: tools.size, bump, findings }, null, 2)}\n` }
  const changes = before === undefined || findings.length === 0 ? '' : `${findings.map((finding) => `  ${finding.bump}  ${textOfFinding(finding)}\n`).join('')}`
  return { code: 0, out: `${contract} written: ${tools.size} tools${changes === '' ? '.\n' : `, with these changes:\n${changes}`}` }
}

async function check (command: Command): Promise<Answer> {
  const file = resolve(command.contract)
  const report = await checkContract(await contractFromModule(command.module, process.cwd()), file, command.contract, command, process.env)
  const code = report.ok ? 0 : 1
  const annotations = process.env.GITHUB_ACTIONS === 'true' ? await annotationsOf(report, file) : ''
  // JSON stands alone on standard output.
  return command.json
    ? { code, out: `${JSON.stringify(report, null, 2)}\n`, err: annotations }
    : { code, out: textFromReport(report, command.module) + annotations }
}

async function annotationsOf (report: Parameters<typeof annotationsFromReport>[0], file: string): Promise<string> {
  const top = await gitIn(dirname(file)).top() ?? process.cwd()
  return annotationsFromReport(report, relative(top, file), await readFile(file, 'utf8')).map((line) => `${line}\n`).join('')
}
