import type { AuditBody } from '../admin/audit-schemas.ts'
import { commandFrom, PAY_RECONCILE_USAGE, USAGE, warningAbout, type Command } from './arguments.ts'
import { clientFor } from './client.ts'
import { printable, printableJson } from '../printable.ts'
import { auditListing, unlinkedListing, type UnlinkedCustomersBody } from './listings.ts'
import { csvFile, pagesBySkip, printJson, recordsTable, type Listing } from './records.ts'
import { throughOutages } from './retry.ts'
import { listText } from './tables.ts'
import { startAndWatch, type Surroundings } from './watch.ts'

/** Runs the command. @returns the exit code. */
export async function run (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  surroundings: Surroundings = process
): Promise<number> {
  const { stdout, stderr } = surroundings
  try {
    const command = commandFrom(argv, env)
    if (!command) {
      stdout.write(USAGE)
      return 0
    }
    const { task, ...connection } = command
    const warning = warningAbout(command)
    if (warning !== undefined) stderr.write(`warning: ${warning}\n`)
    if ('audit' in task) return await printListing(command, auditOf(command, task.audit), surroundings)
    if ('unlinked' in task) {
      return await printListing(command, unlinkedCustomersOf(command, task.unlinked, surroundings), surroundings)
    }
    if (!('list' in task)) return await startAndWatch(connection, task, surroundings)
    const runs = await clientFor(command).list(task.list)
    stdout.write(command.json ? `${printableJson(runs)}\n` : listText(runs))
    return 0
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const hint = error instanceof PAY_RECONCILE_USAGE ? '; --help says more' : ''
    stderr.write(`${message.split('\n').map((text) => printable(text)).join('\n')}${hint}\n`)
    return 2
  }
}

function auditOf (command: Command, filter: object): Listing<AuditBody> {
  const client = clientFor(command)
  // In a file the oldest come first: changes that are made meanwhile come last and move no page.
  const sort = command.json || command.csv !== undefined ? 'at' : '-at'
  return auditListing((size) =>
    pagesBySkip(size, (page) => client.audit({ filter: JSON.stringify(filter), sort, ...page }))
  )
}

function unlinkedCustomersOf (
  command: Command,
  shop: string,
  { stderr, clock }: Surroundings
): Listing<UnlinkedCustomersBody['customers'][number]> {
  const client = clientFor(command)
  return unlinkedListing(async function* () {
    for (let after: string | null | undefined; after !== null;) {
      const query: Record<string, string> = { shop_id: shop, ...(after !== undefined && { after }) }
      const { customers, next } = await throughOutages(
        () => client.unlinkedCustomers(query),
        (text) => stderr.write(`${printable(text)}\n`),
        clock
      )
      yield { records: customers }
      after = next
    }
  })
}

/** Prints records as a table or JSON, or writes them to a file. @returns the exit code. */
async function printListing<Body> (
  { json, csv: path }: Command,
  listing: Listing<Body>,
  { stdout, stderr }: Surroundings
): Promise<number> {
  if (json) {
    await printJson(listing, stdout)
    stdout.write('\n')
  } else if (path === undefined) {
    stdout.write(`${await recordsTable(listing, stdout) || 'nothing found'}\n`)
  } else {
    const csv = await csvFile(path)
    stderr.write(`${await csv.fill(listing).finally(csv.close)} records written\n`)
  }
  return 0
}
