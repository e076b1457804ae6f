import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** Where and how a command runs. */
export interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs a command to its end, ten minutes at most.
 *
 * @returns what it wrote to its standard output
 * @throws with all that it wrote, when it fails
 */
export async function run (command: string, args: readonly string[], { cwd, env = {} }: Surroundings): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env: { ...process.env, ...env }, timeout: 600_000 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      reject(new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error }))
    })
  })
}

/** A server that was started. */
export interface Server {
  /** Its origin, as it said. */
  readonly origin: string
  /** Ends it. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a program of a server and waits until it listens, a minute at most.
 *
 * @param ready - finds the origin in a line of its output; without it the server says nothing, and is asked at this
 *   origin
 * @throws with all that it wrote, when it ends instead
 */
export async function serve (
  command: string,
  args: readonly string[],
  { cwd, env = {} }: Surroundings,
  ready: RegExp | string
): Promise<Server> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let written = ''
  const stop = async (): Promise<void> => {
    child.kill()
    await ended
  }
  const origin = new Promise<string>((resolve) => {
    if (typeof ready === 'string') untilItAnswers(ready).then(resolve, () => {})
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        written += `${line}\n`
        const [, found] = typeof ready === 'string' ? [] : ready.exec(line) ?? []
        if (found !== undefined) resolve(found)
      })
    }
  })
  const waited = new AbortController()
  const found = await Promise.race([origin, ended, sleep(60_000, undefined, { signal: waited.signal })])
  waited.abort()
  if (typeof found === 'string') return { origin: found, stop }
  if (child.exitCode === null) await stop()
  throw new Error(`${args.join(' ')} does not listen\n${written}`)
}

async function untilItAnswers (origin: string): Promise<string> {
  for (let tries = 0; tries < 600; tries++) {
    if (await fetch(origin).then(() => true, () => false)) return origin
    await sleep(100)
  }
  throw new Error(`${origin} does not answer`)
}
