import createError from '@fastify/error'
import type { Command, Task } from './arguments.ts'
import { clientFor, PAY_RECONCILE_SERVER_UNREACHABLE, type Client } from './client.ts'
import { isTransient, statusOf, systemClock, withRetries, type Clock } from './retry.ts'
import { printable, printableJson } from './printable.ts'
import { progressOn, type Output, type Progress } from './progress.ts'
import { reportText, succeeded, type RunBody } from './tables.ts'

/** The command stopped watching a run, or cannot know whether it started one; the message says why and what to do. */
export const PAY_RECONCILE_NOT_WATCHED = createError<[string, string, { cause: unknown }]>('PAY_RECONCILE_NOT_WATCHED', '%s\n%s')

/** Where the command writes, and its clock. */
export interface Surroundings {
  readonly stdout: Output
  readonly stderr: Output
  readonly clock?: Clock
}

/** In milliseconds. */
const pollInterval = 500

/**
 * Starts a run, or takes the one with that id, watches it and prints what it found.
 * @returns the exit code.
 * @throws {@link PAY_RECONCILE_NOT_WATCHED}, {@link PAY_RECONCILE_REFUSED}
 */
export async function startAndWatch (
  command: Omit<Command, 'task'>, task: Exclude<Task, { list: unknown }>, { stdout, stderr, clock = systemClock }: Surroundings = process
): Promise<number> {
  const client = clientFor(command)
  const progress = progressOn(stderr)
  const id = 'run' in task ? task.run : await started(client, task.start)
  progress.note(`run ${id}`)
  const cancel = (): void => {
    progress.note('cancelling the run; Ctrl-C again ends the command only')
    client.cancel(id).catch(error => progress.note(`not cancelled: ${error.message}`))
  }
  process.once('SIGINT', cancel)
  try {
    const run = await watched(client, id, 'start' in task, progress, clock)
    progress.end()
    stdout.write(command.json ? `${printableJson(run)}\n` : reportText(run))
    return succeeded(run) ? 0 : 1
  } finally {
    process.removeListener('SIGINT', cancel)
    progress.end()
  }
}

/** Sent once: a lost response must not start a second run. @returns the id of the run */
async function started (client: Client, body: object): Promise<string> {
  try {
    return (await client.start(body)).id
  } catch (error) {
    const status = statusOf(error)
    const unknown = error instanceof PAY_RECONCILE_SERVER_UNREACHABLE || (status !== undefined && (status < 400 || status >= 500))
    throw unknown ? notWatched(error, 'If a run was started nevertheless, --list shows it') : error
  }
}

/** @param known whether the command knows that the run exists. */
async function watched (client: Client, id: string, known: boolean, progress: Progress, clock: Clock): Promise<RunBody> {
  for (;;) {
    let run
    try {
      run = await withRetries(() => client.get(id), progress.note, clock)
    } catch (error) {
      if (!known && !isTransient(error)) throw error
      throw notWatched(error, whatToDo(error, id))
    }
    known = true
    progress.show(run)
    if (run.status !== 'running') return run
    await clock.sleep(pollInterval)
  }
}

function whatToDo (error: unknown, id: string): string {
  const watch = `The run continues in the server; watch it with --run ${printable(id)}`
  if (statusOf(error) === 401) return `The server no longer accepts the token. ${watch} and a new token in PAY_RECONCILE_TOKEN`
  return isTransient(error) ? `No successful response for two minutes. ${watch}` : watch
}

function notWatched (cause: unknown, hint: string): Error {
  return new PAY_RECONCILE_NOT_WATCHED(cause instanceof Error ? cause.message : String(cause), hint, { cause })
}
