import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../../../test/scope.ts'

/** How long the end of one thing may take, in milliseconds. */
const TEARDOWN = 60_000

/** Somebody ended the process. */
export class Interrupted extends Error {}

/** What would end the process, and leave servers behind. */
const ENDS = ['SIGINT', 'SIGTERM', 'uncaughtException']

/**
 * Does work, and cleans up after it: also if it fails, takes too long, or is interrupted.
 *
 * @param limit - in seconds
 */
export async function inScope<Result> (limit: number, work: (t: Scope) => Promise<Result>): Promise<Result> {
  const ends: Array<() => unknown> = []
  const timer = new AbortController()
  let interrupt = (_reason: unknown): void => {}
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt = (reason) => {
      reject(reason instanceof Error ? reason : new Interrupted(`stopped by ${String(reason)}`))
    }
  })
  for (const event of ENDS) process.once(event, interrupt)
  const late = sleep(limit * 1000, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not over within ${limit} s`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([
      work({
        teardown: (end) => {
          ends.push(end)
        }
      }),
      late,
      interrupted
    ])
  } finally {
    timer.abort()
    for (const event of ENDS) process.removeListener(event, interrupt)
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await tried(end)
  }
}

async function tried (end: () => unknown): Promise<void> {
  const timer = new AbortController()
  try {
    await Promise.race([Promise.resolve(end()), sleep(TEARDOWN, undefined, { signal: timer.signal })])
  } catch (error) {
    console.error(error)
  } finally {
    timer.abort()
  }
}
