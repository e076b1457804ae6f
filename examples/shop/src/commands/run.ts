import { parseArgs } from 'node:util'
import { openDatabase } from '../database/index.ts'
import { SHOP_USAGE } from '../errors.ts'
import { adminAdd } from './admin-add.ts'
import type { Command, Outcome } from './command.ts'
import { doctor } from './doctor.ts'
import { keyCreate } from './key-create.ts'
import { migrateTables } from './migrate.ts'
import { personDelete, personExport, personRename } from './person.ts'
import { reasonOf } from './refuse.ts'
import { reseal } from './reseal.ts'
import { seed } from './seed.ts'

const commands: readonly Command[] = [
  adminAdd,
  keyCreate,
  personExport,
  personRename,
  personDelete,
  doctor,
  migrateTables,
  reseal,
  seed
]

/**
 * Runs one of the commands of `shop`.
 *
 * @param argv - what follows `shop`
 * @param environment - the settings, as in `process.env`
 * @param open - opens the database; default: the one that the settings name
 * @returns what to print, and the exit code: 1 also for unusable input
 */
export async function run (
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  open = openDatabase
): Promise<Outcome> {
  const command = commands.find(({ usage }) => wordsOf(usage).every((word, index) => argv[index] === word))
  if (command === undefined) return { code: 1, stdout: '', stderr: help() }
  const { usage, options = {}, positionals: count = 0 } = command
  try {
    const { values, positionals } = parseArgs({
      args: argv.slice(wordsOf(usage).length),
      options,
      allowPositionals: true
    })
    if (positionals.length !== count) throw new SHOP_USAGE(`shop ${usage}`)
    return await command.run({ values, positionals, environment, open })
  } catch (error) {
    const isMisused = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true
    return { code: 1, stdout: '', stderr: `${reasonOf(error)}\n${isMisused ? `Usage: shop ${usage}\n` : ''}` }
  }
}

/** The words that name a command: its usage up to the first argument. */
function wordsOf (usage: string): readonly string[] {
  return usage.split(/ (?=[<[-])/)[0]!.split(' ')
}

function help (): string {
  return `Usage:\n${commands.map(({ usage, summary }) => `  shop ${usage}\n      ${summary}\n`).join('')}`
}
