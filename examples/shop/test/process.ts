import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { madeOnce } from '../../../test/made-once.ts'
import { SHORT_LIVED } from '../../../test/node-flags.js'
import { ENGINE } from '../../../test/packed-database.ts'
import type { Demo } from '../src/demo/demo-file.ts'
import { RISKS } from '../src/settings/risks.ts'
import { createDatabase, migrateDirectory, TABLES, TEST_DATABASE_URL } from './build.ts'
import type { Scope } from '../../../test/scope.ts'

/** A server in a process of its own. */
export interface Running {
  readonly baseUrl: string
  readonly child: ChildProcess
  /** All that it printed so far. */
  readonly output: () => string
  /** Sends the signal and waits for the end. */
  readonly stop: (signal: NodeJS.Signals) => Promise<{ code: number | null, signal: NodeJS.Signals | null }>
}

/** @returns settings that give one server after another the same data, on the engine under test */
export async function lastingData (t: Test): Promise<{ DATA_DIR: string, DATABASE_URL: string }> {
  return {
    DATA_DIR: join(t.testdir(), 'data'),
    DATABASE_URL: TEST_DATABASE_URL === undefined ? '' : await createDatabase(t, TEST_DATABASE_URL)
  }
}

/**
 * The same, with the tables in an embedded database. On a server the test makes them by `migrate`, which finds them
 * here.
 */
export async function dataForTables (t: Test): ReturnType<typeof lastingData> {
  const settings = await lastingData(t)
  if (TEST_DATABASE_URL === undefined) {
    cpSync(await madeOnce('tables', [ENGINE, ...TABLES], migrateDirectory), join(settings.DATA_DIR, 'database'), {
      recursive: true
    })
  }
  return settings
}

/**
 * The same, with the data of a demo that was started once and stopped. Seeding takes longer than most tests.
 */
export async function seededData (t: Test): ReturnType<typeof lastingData> {
  const settings = await lastingData(t)
  if (TEST_DATABASE_URL !== undefined) return settings
  const built = ['.', '../../packages/dual-auth', '../../packages/pay-reconcile'].map((folder) =>
    new URL(`../${folder}/dist`, import.meta.url)
  )
  const seeded = await madeOnce('demo', [ENGINE, ...built], async (path) => {
    const { stop } = await start(t, 'demo/start', { ...settings, DATA_DIR: path })
    await stop('SIGTERM')
  })
  cpSync(seeded, settings.DATA_DIR, { recursive: true })
  return settings
}

/**
 * Starts the server as a user does and waits until it listens. It sheds no load: other tests use the processors too.
 *
 * @param program - `server` for production, `demo/start` for the demo profile
 * @param shop - the folder of the shop, of any version
 * @throws with why it ended instead; the cause is all that it printed
 */
export async function start (
  t: Scope,
  program: 'server' | 'demo/start',
  settings: Readonly<Record<string, string>>,
  shop = new URL('..', import.meta.url)
): Promise<Running> {
  const script = fileURLToPath(new URL(`dist/${program}.js`, shop))
  const child = spawn(process.execPath, [...SHORT_LIVED, script], {
    env: { PATH: process.env['PATH'], PORT: '0', MAX_EVENT_LOOP_DELAY: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => {
    child.kill('SIGKILL')
  })

  let printed = ''
  let errors = ''
  const ended = once(child, 'exit')
  const baseUrl = await new Promise<string>((resolve, reject) => {
    const read = (data: Buffer): void => {
      printed += String(data)
      const address = /(?:Server listening at|MCP endpoint\s+)\D*(http:\/\/[^/"\s]+)/.exec(printed)?.[1]
      if (address !== undefined) resolve(address)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', (data: Buffer) => {
      errors += String(data)
      read(data)
    })
    once(child, 'close').then(() => reject(new Error(errors, { cause: printed })), reject)
  })

  return {
    baseUrl,
    child,
    output: () => printed,
    stop: async (signal) => {
      child.kill(signal)
      const [code, killedBy] = await ended
      return { code, signal: killedBy }
    }
  }
}

/** What `npm start` writes for programs. */
export function readDemo (dataDir: string): Demo {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
}

/** @returns settings for a server without the demo that believes the same tokens and keys as the demo in `dataDir` */
export function settingsOfDemo (dataDir: string): Record<string, string> {
  const { base_url: baseUrl, idp, pay } = readDemo(dataDir)
  const { pepper, payKeySecret } = JSON.parse(readFileSync(join(dataDir, 'demo-secrets.json'), 'utf8'))
  return {
    PUBLIC_BASE_URL: baseUrl,
    IDP_ISSUER: idp.issuer,
    IDP_MCP_CLIENT_ID: idp.mcp_client_id,
    API_KEY_PEPPERS: `demo:${pepper}`,
    PAY_KEY_SECRETS: `demo:${payKeySecret}`,
    PAY_API_URL: pay.url,
    ALLOW_INSECURE: RISKS.join(','),
    SHUTDOWN_DELAY: '0'
  }
}

/** Sends JSON to a running server. */
export async function call (method: string, url: string, { headers = {}, body }: {
  readonly headers?: Readonly<Record<string, string>>,
  readonly body?: object
} = {}): Promise<{ status: number, headers: Headers, body: any }> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}
