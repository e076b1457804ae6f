import { commandFrom, usage, warningAbout, type Command } from './arguments.ts'
import { clientFor } from './client.ts'
import { reconcile } from './watch.ts'
import { printable, printableJson } from './printable.ts'
import { listText } from './tables.ts'

process.exitCode = await main()

async function main (): Promise<number> {
  try {
    const command = commandFrom(process.argv.slice(2), process.env)
    if (!command) {
      process.stdout.write(usage)
      return 0
    }
    const warning = warningAbout(command)
    if (warning !== undefined) process.stderr.write(`warning: ${warning}\n`)
    return 'list' in command.work ? await list(command, command.work.list) : await reconcile(command, command.work)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${message.split('\n').map(printable).join('\n')}\n`)
    return 2
  }
}

async function list (command: Command, query: Readonly<Record<string, string>>): Promise<number> {
  const runs = await clientFor(command).list(query)
  process.stdout.write(command.json ? `${printableJson(runs)}\n` : listText(runs))
  return 0
}
