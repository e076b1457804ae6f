import { Client as Sdk1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'

/**
 * mcp-remote as an application starts it: a child process that speaks stdio and opens a browser, here one that does
 * nothing.
 */
export function mcpRemote (
  t: Test,
  url: string,
  callback = ['7777', '--host', 'localhost', '--callback-path', '/callback']
) {
  const home = t.testdir()
  const script = join(dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist/proxy.js')
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, url, ...callback],
    env: { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: home, BROWSER: '/bin/true' },
    stderr: 'pipe'
  })
  let log = ''
  transport.stderr?.on('data', (chunk) => {
    log += chunk
  })
  t.teardown(() => {
    if (!t.passing()) t.comment(log)
  })

  return {
    async client () {
      const client = new Sdk1Client({ name: 'test', version: '1.0.0' })
      t.teardown(() => client.close())
      await client.connect(transport)
      return client
    },
    async nextAuthorizationUrl () {
      for (;;) {
        const [, found] = /visiting:\n(\S+)\n/.exec(log) ?? []
        if (found !== undefined) return new URL(found)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
}
