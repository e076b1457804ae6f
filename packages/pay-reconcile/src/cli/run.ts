import { commandFrom, usage, warningAbout } from './arguments.ts'
import { clientFor } from './client.ts'
import { printable, printableJson } from './printable.ts'
import { listText } from './tables.ts'
import { startAndWatch, type Surroundings } from './watch.ts'

/** Runs the command. @returns the exit code. */
export async function run (
  argv: readonly string[], env: Readonly<Record<string, string | undefined>>, surroundings: Surroundings = process
): Promise<number> {
  const { stdout, stderr } = surroundings
  try {
    const command = commandFrom(argv, env)
    if (!command) {
      stdout.write(usage)
      return 0
    }
    const { task, ...connection } = command
    const warning = warningAbout(command)
    if (warning !== undefined) stderr.write(`warning: ${warning}\n`)
    if (!('list' in task)) return await startAndWatch(connection, task, surroundings)
    const runs = await clientFor(command).list(task.list)
    stdout.write(command.json ? `${printableJson(runs)}\n` : listText(runs))
    return 0
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    stderr.write(`${message.split('\n').map(printable).join('\n')}\n`)
    return 2
  }
}
