import { application, connected, converse, person, readResource, task } from './lab.ts'
const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client' as string)

const mode = process.argv[2] === 'auto' ? 'auto' : { pin: process.argv[2] }
const authProvider = application()
const transport = () =>
  new StreamableHTTPClientTransport(new URL(task.url), { requestInit: { headers: task.headers }, authProvider })
const client = await connected(async () => {
  const client = new Client({ name: 'lab', version: '1.0.0' }, {
    versionNegotiation: { mode },
    capabilities: { elicitation: {} }
  })
  client.setRequestHandler(
    'elicitation/create',
    async ({ params }: { params: { message: string } }) => await person(params.message)
  )
  await client.connect(transport())
  return client
}, async () => await transport().finishAuth(await authProvider.returned))
const { tools } = await client.listTools()
await readResource(async (uri) => await client.readResource({ uri }))
await converse(client.getInstructions(), tools, async (call) => await client.callTool(call))
await client.close()
