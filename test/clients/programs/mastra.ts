import { application, connected, openAi, readResource, task } from './lab.ts'
const { createOpenAI } = await import('@ai-sdk/openai' as string)
const { Agent } = await import('@mastra/core/agent' as string)
const { MCPClient } = await import('@mastra/mcp' as string)
const { auth } = await import('@modelcontextprotocol/client' as string)

const authProvider = application()
const client = new MCPClient({
  servers: {
    shop: { url: new URL(task.url), requestInit: { headers: task.headers }, ...(task.signsIn && { authProvider }) }
  }
})
const tools = await connected(async () => {
  const tools = await client.listTools()
  // It leaves out a server that it cannot reach.
  if (Object.keys(tools).length === 0) throw new Error('no tools')
  return tools
}, async () => {
  const returned = await authProvider.returned
  await auth(authProvider, { serverUrl: task.url, authorizationCode: returned.get('code'), iss: returned.get('iss') })
})
await readResource(async (uri) => await client.resources.read('shop', uri))
const agent = new Agent({ id: 'lab', name: 'lab', instructions: '', model: createOpenAI(openAi)('stand-in'), tools })
await agent.generate('go', { maxSteps: 100 })
await client.disconnect()
