import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import {
  acceptedFromText,
  contractFromText,
  diffContracts,
  textFromContract,
  textOfFinding
} from '../contract/index.ts'
import { contractFromModule } from './app.ts'
import { changelogFromReport, annotationsFromReport, textFromReport } from './report.ts'
import { commandFrom, USAGE, type Command, type Answer, type Surroundings } from './arguments.ts'
import { checkContract } from './check.ts'
import { gitIn } from './git.ts'

/**
 * Runs the command in this process. What the module opens stays open.
 *
 * @param argv - what follows `mcp-from-routes`
 */
export async function run (argv: readonly string[], surroundings: Surroundings): Promise<Answer> {
  try {
    const command = commandFrom(argv)
    if (command === undefined) return { code: 0, out: USAGE, err: '' }
    switch (command.action) {
      case 'review':
        return await (await import('../extensions/review/command.ts')).review(command, surroundings)
      case 'cases':
        return await (await import('../testing/cases/command.ts')).cases(command, surroundings)
      case 'write':
        return await write(command, surroundings)
      case 'check':
        return await check(command, surroundings)
      default:
        return await changelog(command, surroundings)
    }
  } catch (error) {
    return { code: 2, out: '', err: `${error instanceof Error ? error.message : String(error)}\n` }
  }
}

async function write ({ module, contract, json }: Command, { cwd }: Surroundings): Promise<Answer> {
  const file = resolve(cwd, contract)
  const tools = await contractFromModule(module, cwd)
  const before = await readFile(file, 'utf8').catch(() => undefined)
  const { bump, findings } = diffContracts(before === undefined ? new Map() : contractFromText(before, contract), tools)
  await mkdir(dirname(file), { recursive: true })
  // Keep the entries of `accepted`: people wrote them.
  await writeFile(file, textFromContract(tools, before === undefined ? [] : acceptedFromText(before, contract)))
  if (json) {
    return {
      code: 0,
      out: `${JSON.stringify({ file: contract, tools: tools.size, bump, findings }, null, 2)}\n`,
      err: ''
    }
  }
  const changes = before === undefined || findings.length === 0
    ? ''
    : `${findings.map((finding) => `  ${finding.bump}  ${textOfFinding(finding)}\n`).join('')}`
  return {
    code: 0,
    out: `${contract} written: ${tools.size} tools${changes === '' ? '.\n' : `, with these changes:\n${changes}`}`,
    err: ''
  }
}

async function check (command: Command, { cwd, env }: Surroundings): Promise<Answer> {
  const file = resolve(cwd, command.contract)
  const report = await checkContract(
    await contractFromModule(command.module, cwd),
    file,
    command.contract,
    command,
    env
  )
  const code = report.ok ? 0 : 1
  const annotations = env.GITHUB_ACTIONS === 'true' ? await annotationsOf(report, file, { cwd, env }) : ''
  // With --json, standard output has nothing but the JSON.
  return command.json
    ? { code, out: `${JSON.stringify(report, null, 2)}\n`, err: annotations }
    : { code, out: textFromReport(report, command.module) + annotations, err: '' }
}

async function changelog (command: Command, { cwd, env }: Surroundings): Promise<Answer> {
  const file = resolve(cwd, command.contract)
  const { version } = await checkContract(
    await contractFromModule(command.module, cwd),
    file,
    command.contract,
    command,
    env
  )
  return {
    code: 0,
    out: command.json ? `${JSON.stringify(version, null, 2)}\n` : changelogFromReport(version),
    err: ''
  }
}

async function annotationsOf (
  report: Parameters<typeof annotationsFromReport>[0],
  file: string,
  { cwd, env }: Surroundings
): Promise<string> {
  const top = await gitIn(dirname(file), env).top() ?? cwd
  return annotationsFromReport(report, relative(top, file), await readFile(file, 'utf8')).map((line) => `${line}\n`)
    .join('')
}
