import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Demo } from '../../examples/shop/src/demo/demo-file.ts'
import { accessTokenFor, type Credentials } from '../../examples/shop/src/demo/identity-provider.ts'

/** The demo shop, as `npm start` starts it, with data of its own. */
export interface Shop {
  readonly demo: Demo
  /** Somebody who can sign in, and owns the first shop. */
  readonly person: Credentials
  createKey (scopes: readonly string[]): Promise<{ readonly id: string, readonly plaintext: string }>
  revokeKey (id: string): Promise<void>
  stop (): Promise<void>
}

const script = fileURLToPath(new URL('../../examples/shop/dist/demo/start.js', import.meta.url))

/** Starts the demo on free ports. */
export async function startShop (): Promise<Shop> {
  const dataDir = mkdtempSync(join(tmpdir(), 'clients-shop-'))
  const child = spawn(process.execPath, [script], { env: { PATH: process.env['PATH'], PORT: '0', MAX_EVENT_LOOP_DELAY: '0', DATA_DIR: dataDir }, stdio: ['ignore', 'pipe', 'pipe'] })
  process.once('exit', () => {
    child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })
  let printed = ''
  child.stderr.on('data', (chunk) => { printed += chunk })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Stop with')) resolve()
    })
    child.once('exit', () => reject(new Error(printed)))
  })

  const demo: Demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
  const person = demo.users.find(({ username }) => username === 'kim')!
  const token = await accessTokenFor({ ...person, issuer: demo.idp.issuer, clientId: demo.idp.mcp_client_id, resource: demo.mcp_url })
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
    async stop () {
      child.kill()
      await once(child, 'exit')
    }
  }
}
