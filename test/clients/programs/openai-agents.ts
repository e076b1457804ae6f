import { application, connected, openAi, readResource, task } from './lab.ts'
process.env['OPENAI_BASE_URL'] = openAi.baseURL
process.env['OPENAI_API_KEY'] = openAi.apiKey
const { auth } = await import('@modelcontextprotocol/client' as string)
const { Agent, MCPServerStreamableHttp, run, setTracingDisabled } = await import('@openai/agents' as string)

setTracingDisabled(true)
const authProvider = application()
const server = await connected(async () => {
  const server = new MCPServerStreamableHttp({
    url: task.url,
    requestInit: { headers: task.headers },
    ...(task.signsIn && { authProvider })
  })
  await server.connect()
  return server
}, async () => {
  const returned = await authProvider.returned
  await auth(authProvider, { serverUrl: task.url, authorizationCode: returned.get('code'), iss: returned.get('iss') })
})
await readResource(async (uri) => await server.readResource(uri))
await run(new Agent({ name: 'lab', model: 'stand-in', mcpServers: [server] }), 'go', { maxTurns: 100 })
await server.close()
