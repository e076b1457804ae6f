import { createError } from '@fastify/error'
import type { Command, RunTask } from './arguments.ts'
import { clientFor, PAY_RECONCILE_SERVER_UNREACHABLE, type Client } from './client.ts'
import { isTransient, statusOf, systemClock, throughOutages, type Clock } from './retry.ts'
import { printable, printableJson } from '../printable.ts'
import { progressOn, type Output, type Progress } from './progress.ts'
import { csvFile, pagesBySkip, printJson, recordsTable, type CsvFile, type Listing } from './records.ts'
import { succeeded, reportText, type RunBody } from './tables.ts'
import type { ItemBody } from '../admin/run-schemas.ts'
import { itemTable } from '../csv/tables.ts'
import { itemHead, itemLines } from './listings.ts'

/** The command stopped watching a run, or cannot know whether it started one; the message says why and what to do. */
const PAY_RECONCILE_NOT_WATCHED = createError<[string, string, { cause: unknown }]>(
  'PAY_RECONCILE_NOT_WATCHED',
  '%s\n%s'
)

/** Where the command writes, and its clock. */
export interface Surroundings {
  readonly stdout: Output
  readonly stderr: Output
  readonly clock?: Clock
}

/** In milliseconds. */
const POLL_INTERVAL = 500

/**
 * Starts a run, or takes the one with that id, watches it and prints what it found.
 * @returns the exit code.
 * @throws {@link PAY_RECONCILE_NOT_WATCHED}, {@link PAY_RECONCILE_REFUSED}
 */
export async function startAndWatch (
  command: Omit<Command, 'task'>,
  task: RunTask,
  { stdout, stderr, clock = systemClock }: Surroundings = process
): Promise<number> {
  const client = clientFor(command)
  const progress = progressOn(stderr)
  const csv = command.csv === undefined ? undefined : await csvFile(command.csv)
  const id = 'run' in task ? task.run : await started(client, task.start)
  progress.note(`run ${id}`)
  const cancel = (): void => {
    progress.note('cancelling the run; Ctrl-C again ends the command only')
    client.cancel(id).catch((error) => progress.note(`not cancelled: ${error.message}`))
  }
  process.once('SIGINT', cancel)
  try {
    const run = await watched(client, id, 'start' in task, progress, clock)
    progress.end()
    const since = command.since === 'last' ? await lastBefore(client, run) : command.since
    if (command.since === 'last') {
      progress.note(since === undefined ? 'there is no earlier run: everything is new' : `since run ${since}`)
    }
    await reportRun(run, {
      ...command,
      since,
      csv,
      read: (query) => throughOutages(() => client.items(id, query), progress.note, clock),
      stdout,
      note: progress.note
    })
    return succeeded(run) ? 0 : 1
  } finally {
    process.removeListener('SIGINT', cancel)
    progress.end()
    await csv?.close()
  }
}

/**
 * The newest run of the same mode and shops that was done before this one, over all accounts or limited in the same
 * way: one over a few accounts would make everything else news.
 */
async function lastBefore (
  client: Client,
  { mode, shop_id: shop, started_at: started, selection }: RunBody
): Promise<string | undefined> {
  const filter = { mode, shop_id: shop, status: 'done' }
  const runs = await client.list({ filter: JSON.stringify(filter), limit: '100' })
  return runs.find((run) =>
    run.started_at < started && Object.keys(run.selection).every((limit) => Object.hasOwn(selection, limit))
  )?.id
}

/** Sent once: a lost response must not start a second run. @returns the id of the run */
async function started (client: Client, body: object): Promise<string> {
  try {
    return (await client.start(body)).id
  } catch (error) {
    const status = statusOf(error)
    const unknown = error instanceof PAY_RECONCILE_SERVER_UNREACHABLE ||
      (status !== undefined && (status < 400 || status >= 500))
    throw unknown ? notWatched(error, 'If the server started a run anyway, --list shows it') : error
  }
}

/** @param known - whether the command knows that the run exists. */
async function watched (
  client: Client,
  id: string,
  known: boolean,
  progress: Progress,
  clock: Clock
): Promise<RunBody> {
  for (;;) {
    let run
    try {
      run = await throughOutages(() => client.get(id), progress.note, clock)
    } catch (error) {
      if (!known && !isTransient(error)) throw error
      throw notWatched(error, whatToDo(error, id))
    }
    known = true
    progress.show(run)
    if (run.status !== 'running') return run
    await clock.sleep(POLL_INTERVAL)
  }
}

function whatToDo (error: unknown, id: string): string {
  const watch = `The run continues in the server; watch it with --run ${printable(id)}`
  if (statusOf(error) === 401) {
    return `The server no longer accepts the token. ${watch} and a new token in PAY_RECONCILE_TOKEN`
  }
  return isTransient(error) ? `No successful response for two minutes. ${watch}` : watch
}

function notWatched (cause: unknown, hint: string): Error {
  return new PAY_RECONCILE_NOT_WATCHED(cause instanceof Error ? cause.message : String(cause), hint, { cause })
}

/** How to report a run, and where its items come from. */
interface Report {
  readonly json: boolean
  readonly show?: readonly string[]
  readonly since?: string | undefined
  readonly csv: CsvFile | undefined
  readonly read: (query: Readonly<Record<string, string>>) => Promise<RunBody>
  readonly stdout: Output
  readonly note: (text: string) => void
}

/** Prints what a run found: the chosen items as JSON, or counters with a table or a file of them. */
async function reportRun (run: RunBody, { json, show, since, csv, read, stdout, note }: Report): Promise<void> {
  const listing = (outcomes: readonly string[] | undefined): Listing<ItemBody> => ({
    pages: (size) =>
      pagesBySkip(size, async (page) => {
        const filter = outcomes && { filter: JSON.stringify({ outcome: outcomes }) }
        const { items, items_count: count } = await read({ ...filter, ...(since !== undefined && { since }), ...page })
        return { records: items, count }
      }),
    head: itemHead(run.shop_id !== null),
    lines: (item) => itemLines(item, run.shop_id !== null),
    csv: itemTable
  })
  if (json) {
    const { items: _, items_count: __, ...counters } = run
    stdout.write(`${printableJson(counters).slice(0, -2)},\n  "items": `)
    await printJson(listing(show), stdout)
    stdout.write('\n}\n')
    return
  }
  stdout.write(reportText(run, csv ? '' : await recordsTable(listing(show ?? ['failed']), stdout)))
  if (csv) note(`${await csv.fill(listing(show))} items written`)
}
