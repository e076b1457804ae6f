import { setTimeout as sleep } from 'node:timers/promises'
import { commandFrom, usage, type Command, type Work } from './arguments.ts'
import { clientFor } from './client.ts'
import { listText, progressLine, reportText, succeeded, type WireRun } from './text.ts'

const pollMs = 500

process.exitCode = await main()

async function main (): Promise<number> {
  try {
    const command = commandFrom(process.argv.slice(2), process.env)
    if (command) return 'list' in command.work ? await list(command, command.work.list) : await reconcile(command, command.work)
    process.stdout.write(usage)
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 2
  }
}

async function list (command: Command, query: Readonly<Record<string, string>>): Promise<number> {
  const runs = await clientFor(command).list(query)
  process.stdout.write(command.json ? `${JSON.stringify(runs, null, 2)}\n` : listText(runs))
  return 0
}

async function reconcile (command: Command, work: Exclude<Work, { list: unknown }>): Promise<number> {
  const client = clientFor(command)
  const { id } = 'run' in work ? { id: work.run } : await client.start(work.start)
  process.once('SIGINT', () => {
    process.stderr.write('\ncancelling; once more to leave the run alone\n')
    client.cancel(id).catch(error => process.stderr.write(`not cancelled: ${error.message}\n`))
  })

  let run = await client.get(id)
  process.stderr.write(`run ${id}\n`)
  while (run.status === 'running') {
    showProgress(run)
    await sleep(pollMs)
    run = await client.get(id)
  }
  showProgress(run)
  if (process.stderr.isTTY) process.stderr.write('\n')
  process.stdout.write(command.json ? `${JSON.stringify(run, null, 2)}\n` : reportText(run, run.items))
  return succeeded(run) ? 0 : 1
}

/** One line that renews itself in a terminal; a log gets a line each time. */
function showProgress (run: WireRun): void {
  process.stderr.write(process.stderr.isTTY ? `\r${progressLine(run)}` : `${progressLine(run)}\n`)
}
