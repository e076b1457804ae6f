import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { converse, readResource, task } from './lab.ts'
const { Client } = await import('@modelcontextprotocol/sdk/client/index.js' as string)
const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js' as string)

const script = join(dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist/proxy.js')
const headers = Object.entries(task.headers).flatMap(([name, value]) => ['--header', `${name}:${value}`])
const { HOME = '', PATH = '', BROWSER = '' } = process.env
const client = new Client({ name: 'lab', version: '1.0.0' })
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [script, task.url, ...headers],
    env: { HOME, PATH, BROWSER, MCP_REMOTE_CONFIG_DIR: HOME },
    stderr: 'inherit'
  })
)
const { tools } = await client.listTools()
await readResource(async (uri) => await client.readResource({ uri }))
await converse(client.getInstructions(), tools, async (call) => await client.callTool(call))
await client.close()
