import { strict as assert } from 'node:assert'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, serve, type Server } from './command.ts'
import { pack, packages } from './packages.ts'

const source = fileURLToPath(new URL('../../starter/', import.meta.url))

/** What a copy has, as the README of the starter says. */
const LEFT_OUT = /^(?:node_modules|dist|\.data)(?:\/|$)/

/** Copies `examples/starter` out of the repository, and does what its README says. */
export async function checkStarter (directory: string): Promise<void> {
  const cwd = join(directory, 'starter')
  const vendor = join(cwd, 'vendor')
  cpSync(source, cwd, { recursive: true, filter: (path) => !LEFT_OUT.test(path.slice(source.length)) })
  mkdirSync(vendor)
  for (const one of packages) await pack(one, vendor)
  await run('sh', ['-c', 'npm install --no-audit --no-fund ./vendor/*.tgz'], { cwd })
  await run('npm', ['test'], { cwd })

  const start = async (ready: RegExp): Promise<Server> =>
    await serve('node', ['dist/src/server.js'], { cwd, env: { PORT: '0' } }, ready)
  // The first start prints the key, which works after the second.
  const { origin: key, stop } = await start(/(starter_\w+)/)
  await stop()
  const second = await start(/"msg":"Server listening at (http:[^"]+)"/)
  try {
    const response = await fetch(`${second.origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': key },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    })
    const { result } = await response.json() as { result: { tools: ReadonlyArray<{ name: string }> } }
    assert.deepEqual(result.tools.map(({ name }) => name), ['create_note', 'delete_note', 'list_notes'])
  } finally {
    await second.stop()
  }
}
