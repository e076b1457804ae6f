import { openDatabase } from '../database/index.ts'
import { adminAdd } from './admin-add.ts'
import type { Command, Outcome } from './command.ts'
import { doctor } from './doctor.ts'
import { keyCreate } from './key-create.ts'
import { reasonOf } from './serve.ts'

const commands: readonly Command[] = [adminAdd, keyCreate, doctor]

/**
 * Runs one of the commands of `shop`.
 *
 * @param argv - what is typed behind `shop`
 * @param environment - the settings, as in `process.env`
 * @param open - opens the database; default is what the settings name
 * @returns what to print and the exit code: 1 also for input that cannot be used
 */
export async function run (argv: readonly string[], environment: NodeJS.ProcessEnv, open = openDatabase): Promise<Outcome> {
  const command = commands.find(({ usage }) => wordsOf(usage).every((word, index) => argv[index] === word))
  if (command === undefined) return { code: 1, stdout: '', stderr: help() }
  try {
    return await command.run(argv.slice(wordsOf(command.usage).length), environment, open)
  } catch (error) {
    return { code: 1, stdout: '', stderr: `${reasonOf(error)}\n` }
  }
}

/** The words that name a command: those of its usage in front of its arguments. */
function wordsOf (usage: string): readonly string[] {
  return usage.split(/ (?=[<[-])/)[0]!.split(' ')
}

function help (): string {
  return `Usage:\n${commands.map(({ usage, summary }) => `  shop ${usage}\n      ${summary}\n`).join('')}`
}
