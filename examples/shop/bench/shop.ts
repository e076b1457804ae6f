import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type autocannon from 'autocannon'
import { accessTokenFor, startIdentityProvider } from 'identity-provider'
import knex from 'knex'
import { machineToken } from '../src/demo/keys.ts'

/** Where a shop says that it is. */
const BASE = 'http://localhost'

/** Settings of a server that refuses no call for being one too many. */
export const UNLIMITED = { RATE_LIMIT_MAX: 1_000_000_000, MAX_CONCURRENT_CALLS: 1000, MAX_EVENT_LOOP_DELAY: 0 }

/** A shop in a process of its own, and the identity provider that it believes, in this one. */
export interface Shop {
  readonly child: ChildProcess
  readonly address: string
  readonly shopId: string
  /** Of one of its 300 products. */
  readonly productId: string
  /** A tenth of the products have this tag and this category. */
  readonly tagId: string
  readonly categoryId: string
  /** Where the second page of ten begins, and the last product of the first. */
  readonly cursor: { readonly after: string, readonly productId: string }
  /** An API key of the shop. */
  readonly key: string
  /** @returns a new token of a machine */
  readonly token: () => Promise<string>
  /** @returns a new token of one of the people that it was launched with */
  readonly personToken: (username: string) => Promise<string>
  readonly closeProvider: () => Promise<void>
}

/** Of everybody, at an identity provider that is gone with the measurement. */
const PASSWORD = randomBytes(16).toString('hex')

/** What it has used so far, and holds. */
export interface Usage {
  readonly cpu: NodeJS.CpuUsage
  readonly memory: NodeJS.MemoryUsage
  readonly handles: number
}

/**
 * @param database - the URL of an empty database on a server, or the directory of an embedded one
 * @param nodeOptions - of its process
 * @param settings - in place of the defaults, and of those of a server without limits
 * @param people - the names of those who may sign in
 */
export async function launch (
  database: string,
  { nodeOptions = [], settings = UNLIMITED, people = [] }: {
    readonly nodeOptions?: readonly string[],
    readonly settings?: object,
    readonly people?: readonly string[]
  } = {}
): Promise<Shop> {
  const m2m = { clientId: 'bench', clientSecret: randomBytes(32).toString('hex') }
  const { issuer, close } = await startIdentityProvider({
    port: 0,
    users: people.map((username) => ({ username, password: PASSWORD })),
    resource: BASE,
    clientId: 'bench-mcp',
    m2m
  })
  const token = async (): Promise<string> =>
    await machineToken({
      issuer,
      mcp_client_id: 'bench-mcp',
      m2m: { client_id: m2m.clientId, client_secret: m2m.clientSecret, scope: `${BASE}/api` }
    })
  const personToken = async (username: string): Promise<string> =>
    await accessTokenFor({ issuer, clientId: 'bench-mcp', resource: `${BASE}/mcp`, username, password: PASSWORD })
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [
    database,
    BASE,
    issuer,
    await token(),
    JSON.stringify(settings)
  ], { execArgv: [...process.execArgv, '--expose-gc', ...nodeOptions] })
  const early = once(child, 'exit').then(([code]) => {
    throw new RangeError(`the shop ended with ${String(code)}`)
  })
  early.catch(() => {})
  const [shop] = await Promise.race([once(child, 'message'), early]) as [
    Omit<Shop, 'child' | 'token' | 'personToken' | 'closeProvider'>
  ]
  return { child, token, personToken, closeProvider: close, ...shop }
}

/** @param collect - its garbage first, for what it holds; not between measurements, which it would make slow */
export async function usage ({ child }: Shop, { collect = false } = {}): Promise<Usage> {
  const answer = once(child, 'message')
  child.send(collect ? 'collect' : 'usage')
  const [message] = await answer as [Usage]
  return message
}

export async function stop ({ child, closeProvider }: Shop): Promise<void> {
  const gone = once(child, 'exit')
  child.disconnect()
  await gone
  await closeProvider()
}

/**
 * Gives the work the URL of a new database on the server that TEST_DATABASE_URL names, and drops it after that. Without
 * a server it says that `what` was not measured: the program then ends with 2.
 */
export async function onDatabase (
  what: string,
  work: (url: string, server: string) => Promise<void>
): Promise<void> {
  const server = process.env['TEST_DATABASE_URL']
  if (server === undefined) {
    notMeasured(`${what}. Set TEST_DATABASE_URL to a PostgreSQL server on which databases may be created`)
    return
  }
  const name = `shop_bench_${randomUUID().replaceAll('-', '')}`
  const admin = knex({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
  await admin.raw('create database ??', [name])
  const url = new URL(server)
  url.pathname = `/${name}`
  try {
    await work(url.href, server)
  } finally {
    await admin.raw('drop database ?? with (force)', [name])
    await admin.destroy()
  }
}

/** Nobody may take what did not run for a success. */
export function notMeasured (what: string): void {
  console.log(`NOT MEASURED: ${what}.`)
  process.exitCode ??= 2
}

/** @returns the call of a tool, with the credential in `headers` */
export function toolCall (headers: Readonly<Record<string, string>>, name: string, args: object): autocannon.Request {
  return {
    method: 'POST',
    path: '/mcp',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  }
}
