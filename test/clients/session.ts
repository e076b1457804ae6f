import type { Credentials } from 'identity-provider'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client, Command, Place } from './client.ts'
import { openModel, type Call, type Person, type Turn } from './model.ts'

/** A client that runs, and waits for what its model says. */
export interface Session {
  /** What the model knows at its first turn. */
  readonly first: Turn
  /**
   * The model calls a tool; resolves with its next turn, or rejects when that takes longer than `patience`
   * milliseconds.
   */
  call(call: Call, patience?: number, person?: Person): Promise<Turn>
  /** The model ends the conversation; resolves with what the client printed, once it has ended. */
  end(): Promise<string>
}

/** How long a client may take for a turn, in milliseconds. */
const PATIENCE = 30_000

/** The client neither went on nor ended. */
export class TooLate extends Error {}

/**
 * Starts a client, and waits for its first question to the model.
 *
 * @param person - who signs in with a browser; otherwise there is a browser, but nobody at it
 */
export async function openSession (
  client: Client,
  own: Pick<Place, 'folder' | 'node' | 'url' | 'headers' | 'document' | 'resource'>,
  person?: Credentials
): Promise<Session> {
  const model = await openModel()
  const home = mkdtempSync(join(tmpdir(), 'clients-home-'))
  const browser = browserAt(home, person)
  const place = { ...own, home, model: model.url, signsIn: person !== undefined }
  const start = ({ command, args, env }: Command): ChildProcess =>
    spawn(command, args, {
      cwd: home,
      env: { PATH: `${home}:${process.env['PATH']}`, HOME: home, BROWSER: browser.command, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true
    })
  if (person !== undefined && client.login) {
    const login = start(client.login(place))
    const failed = await Promise.race([once(login, 'close').then(() => undefined), browser.failed])
    if (failed !== undefined) {
      kill(login)
      model.close()
      throw failed
    }
  }

  const child = start(client.start(place))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      printed += chunk
    })
  }
  const ended = Promise.race([
    once(child, 'close').then(
      ([code]) => new Error(`ended with ${code}:\n${printed}`),
      (error: unknown) => error as Error
    ),
    browser.failed
  ])

  function close (): void {
    browser.close()
    kill(child)
    model.close()
    rmSync(home, { recursive: true, force: true })
  }

  async function turn (patience = PATIENCE): Promise<Turn> {
    const late = new AbortController()
    const outcome = await Promise.race([model.turn(), ended, timeout(late.signal, patience)])
    late.abort()
    if (!(outcome instanceof Error)) return outcome
    close()
    throw outcome
  }

  const first = await turn()
  return {
    first,
    async call (call, patience, person) {
      model.say(call, person)
      return await turn(patience)
    },
    async end () {
      model.say(undefined)
      const late = new AbortController()
      await Promise.race([ended, timeout(late.signal, PATIENCE)])
      late.abort()
      close()
      return printed
    }
  }
}

/** A browser, as programs start one: by the name that desktops have, and by the variable. */
function browserAt (
  home: string,
  person: Credentials | undefined
): { readonly command: string, readonly failed: Promise<Error>, close(): void } {
  const command = join(home, 'xdg-open')
  const failure = join(home, 'browser-failed')
  const quoted = [
    process.execPath,
    '--import',
    url('../typescript.js'),
    url('browser.ts'),
    person?.username,
    person?.password,
    failure
  ].map((word) => `'${word}'`)
  writeFileSync(command, `#!/bin/sh\n${person === undefined ? 'exit 0' : `exec ${quoted.join(' ')} "$1"`}\n`, {
    mode: 0o700
  })
  const closed = new AbortController()
  async function failed (): Promise<Error> {
    while (!closed.signal.aborted && !existsSync(failure)) await sleep(100)
    return new Error(closed.signal.aborted ? 'closed' : readFileSync(failure, 'utf8'))
  }
  return { command, failed: failed(), close: () => closed.abort() }
}

function url (path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

function kill (child: ChildProcess): void {
  // With the programs that it started: some clients are a script that starts the client.
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function timeout (signal: AbortSignal, patience: number): Promise<Error> {
  return await new Promise((resolve) => {
    const timer = setTimeout(resolve, patience, new TooLate(`no turn within ${patience} ms`))
    signal.addEventListener('abort', () => clearTimeout(timer))
  })
}
