import { commandFrom, usage, type Command } from './arguments.ts'
import { clientFor } from './client.ts'
import { reconcile } from './reconcile.ts'
import { listText } from './text.ts'

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
