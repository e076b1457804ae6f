import { application, connected, converse, readResource, task } from './lab.ts'
const { Client } = await import('@modelcontextprotocol/sdk/client/index.js' as string)
const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js' as string)

const authProvider = application()
const transport = () =>
  new StreamableHTTPClientTransport(new URL(task.url), { requestInit: { headers: task.headers }, authProvider })
const client = await connected(async () => {
  const client = new Client({ name: 'lab', version: '1.0.0' })
  await client.connect(transport())
  return client
}, async () => await transport().finishAuth((await authProvider.returned).get('code')))
const { tools } = await client.listTools()
await readResource(async (uri) => await client.readResource({ uri }))
await converse(client.getInstructions(), tools, async (call) => await client.callTool(call))
await client.close()
