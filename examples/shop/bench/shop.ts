import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type autocannon from 'autocannon'
import knex from 'knex'

/** A shop in a process of its own. */
export interface Shop {
  readonly child: ChildProcess
  readonly address: string
  readonly shopId: string
  /** Of one of its 300 products. */
  readonly productId: string
  /** An API key of the shop. */
  readonly key: string
}

/** What it has used so far, and holds after its garbage was collected. */
export interface Usage {
  readonly cpu: NodeJS.CpuUsage
  readonly memory: NodeJS.MemoryUsage
  readonly handles: number
}

/** @param database - the URL of an empty database on a server, or the directory of an embedded one */
export async function launch (database: string): Promise<Shop> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [database], { execArgv: [...process.execArgv, '--expose-gc'] })
  const early = once(child, 'exit').then(([code]) => { throw new RangeError(`the shop ended with ${String(code)}`) })
  early.catch(() => {})
  const [shop] = await Promise.race([once(child, 'message'), early]) as [Omit<Shop, 'child'>]
  return { child, ...shop }
}

export async function usage (shop: Shop): Promise<Usage> {
  return await ask(shop, 'usage')
}

/** @returns a new token of a machine */
export async function machineToken (shop: Shop): Promise<string> {
  return await ask(shop, 'token')
}

async function ask<Answer> ({ child }: Shop, what: 'usage' | 'token'): Promise<Answer> {
  const answer = once(child, 'message')
  child.send(what)
  const [message] = await answer as [Answer]
  return message
}

export async function stop ({ child }: Shop): Promise<void> {
  const gone = once(child, 'exit')
  child.disconnect()
  await gone
}

/** Gives the work the URL of a new database on the server, and drops it after that. */
export async function onDatabase (server: string, work: (url: string) => Promise<void>): Promise<void> {
  const name = `shop_bench_${randomUUID().replaceAll('-', '')}`
  const admin = knex({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
  await admin.raw('create database ??', [name])
  const url = new URL(server)
  url.pathname = `/${name}`
  try {
    await work(url.href)
  } finally {
    await admin.raw('drop database ?? with (force)', [name])
    await admin.destroy()
  }
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
