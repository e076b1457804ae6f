import createError from '@fastify/error'
import type { Command, Work } from './arguments.ts'
import { clientFor, PAY_RECONCILE_SERVER_UNREACHABLE, type Client } from './client.ts'
import { isTransient, retrying, statusOf, systemClock, type Clock } from './retry.ts'
import { printable, printableJson } from './printable.ts'
import { progressOn, type Output, type Progress } from './progress.ts'
import { reportText, succeeded, type WireRun } from './tables.ts'

/** The command lost sight of a run, or does not know whether it started one; the message says why and how to go on. */
export const PAY_RECONCILE_OUT_OF_SIGHT = createError<[string, string, { cause: unknown }]>('PAY_RECONCILE_OUT_OF_SIGHT', '%s\n%s')

/** Where the command writes, and the time it goes by. */
export interface Surroundings {
  readonly stdout: Output
  readonly stderr: Output
  readonly clock?: Clock
}

const pollMs = 500

/**
 * Starts a run, or takes the one of that id, watches it and prints what it found.
 * @returns the exit code.
 * @throws {@link PAY_RECONCILE_OUT_OF_SIGHT}, {@link PAY_RECONCILE_REFUSED}
 */
export async function reconcile (
  command: Omit<Command, 'work'>, work: Exclude<Work, { list: unknown }>, { stdout, stderr, clock = systemClock }: Surroundings = process
): Promise<number> {
  const client = clientFor(command)
  const progress = progressOn(stderr)
  const id = 'run' in work ? work.run : await startedBy(client, work.start)
  progress.note(`run ${id}`)
  const cancel = (): void => {
    progress.note('cancelling; once more to leave the run alone')
    client.cancel(id).catch(error => progress.note(`not cancelled: ${error.message}`))
  }
  process.once('SIGINT', cancel)
  try {
    const run = await watched(client, id, 'start' in work, progress, clock)
    progress.end()
    stdout.write(command.json ? `${printableJson(run)}\n` : reportText(run, run.items))
    return succeeded(run) ? 0 : 1
  } finally {
    process.removeListener('SIGINT', cancel)
    progress.end()
  }
}

/** Asked once: a second run must not come of an answer that got lost. */
async function startedBy (client: Client, body: object): Promise<string> {
  try {
    return (await client.start(body)).id
  } catch (error) {
    const status = statusOf(error)
    const unknown = error instanceof PAY_RECONCILE_SERVER_UNREACHABLE || (status !== undefined && (status < 400 || status >= 500))
    throw unknown ? outOfSight(error, 'If a run was started all the same, --list shows it') : error
  }
}

/** @param known whether there is a run of that id, as far as the command knows. */
async function watched (client: Client, id: string, known: boolean, progress: Progress, clock: Clock): Promise<WireRun> {
  for (;;) {
    let run
    try {
      run = await retrying(() => client.get(id), progress.note, clock)
    } catch (error) {
      if (!known && !isTransient(error)) throw error
      throw outOfSight(error, howToGoOn(error, id))
    }
    known = true
    progress.show(run)
    if (run.status !== 'running') return run
    await clock.sleep(pollMs)
  }
}

function howToGoOn (error: unknown, id: string): string {
  const watch = `The run goes on in the server; watch it with --run ${printable(id)}`
  if (statusOf(error) === 401) return `The server does not take the token any more. ${watch} and a new token in PAY_RECONCILE_TOKEN`
  return isTransient(error) ? `Given up after two minutes without a good answer. ${watch}` : watch
}

function outOfSight (cause: unknown, hint: string): Error {
  return new PAY_RECONCILE_OUT_OF_SIGHT(cause instanceof Error ? cause.message : String(cause), hint, { cause })
}
