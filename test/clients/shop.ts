import { accessTokenFor, type Credentials } from 'identity-provider'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Demo } from '../../examples/shop/src/demo/demo-file.ts'
import { freePort } from '../../shared/free-port.ts'

/** The demo shop, as `npm start` starts it, with data of its own. */
export interface Shop {
  readonly demo: Demo
  /** Somebody who can sign in, and owns the first shop. */
  readonly person: Credentials
  createKey(scopes: readonly string[]): Promise<{ readonly id: string, readonly plaintext: string }>
  revokeKey(id: string): Promise<void>
  /** Stops it and starts it again, at the same address and with its data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const script = fileURLToPath(new URL('../../examples/shop/dist/demo/start.js', import.meta.url))

/** Starts the demo on free ports; it reads metadata documents, from where its `environment` leads. */
export async function startShop (environment: Readonly<Record<string, string>>): Promise<Shop> {
  const dataDir = mkdtempSync(join(tmpdir(), 'clients-shop-'))
  // Not 0, so that it comes back where it was.
  const port = String(await freePort())
  const file = join(dataDir, 'demo.json')
  const start = async (): Promise<ChildProcess> =>
    await started({
      PATH: process.env['PATH'],
      PORT: port,
      MAX_EVENT_LOOP_DELAY: '0',
      DATA_DIR: dataDir,
      OAUTH_BROKER_DOCUMENTS: 'true',
      MCP_VIEWS_ENABLED: 'true',
      ...environment
    })
  let child = await start()
  process.once('exit', () => {
    child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })
  async function stop (): Promise<void> {
    child.kill()
    await once(child, 'exit')
  }

  const demo: Demo = JSON.parse(readFileSync(file, 'utf8'))
  const person = demo.users.find(({ username }) => username === 'kim')!
  const token = await accessTokenFor({
    ...person,
    issuer: demo.idp.issuer,
    clientId: demo.idp.mcp_client_id,
    resource: demo.mcp_url
  })
  const keys = `${demo.base_url}/shops/${demo.shops[0]!.id}/api-keys/`

  async function call (method: string, url: string, body?: object): Promise<any> {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
    return response.status === 204 ? undefined : await response.json()
  }

  return {
    demo,
    person,
    createKey: async (scopes) => await call('POST', keys, { name: 'Lab', scopes }),
    revokeKey: async (id) => await call('DELETE', keys + id),
    async restart () {
      await stop()
      child = await start()
      const { base_url: baseUrl, idp } = JSON.parse(readFileSync(file, 'utf8')) as Demo
      if (baseUrl !== demo.base_url || idp.issuer !== demo.idp.issuer) {
        throw new Error(`the shop came back at ${baseUrl} with ${idp.issuer}: its ports were taken`)
      }
    },
    stop
  }
}

async function started (env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  child.stderr.on('data', (chunk) => {
    printed += chunk
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Stop with')) resolve()
    })
    child.once('exit', () => reject(new Error(printed)))
  })
  return child
}
