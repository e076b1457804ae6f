import { application, connected, openAi, readResource, task } from './lab.ts'
const { MultiServerMCPClient } = await import('@langchain/mcp-adapters' as string)
const { ChatOpenAI } = await import('@langchain/openai' as string)
const { auth } = await import('@modelcontextprotocol/sdk/client/auth.js' as string)
const { createAgent } = await import('langchain' as string)

const authProvider = application()
const client = new MultiServerMCPClient({
  mcpServers: {
    shop: { url: task.url, headers: task.headers, automaticSSEFallback: false, ...(task.signsIn && { authProvider }) }
  }
})
const tools = await connected(
  async () => await client.getTools(),
  async () =>
    await auth(authProvider, { serverUrl: task.url, authorizationCode: (await authProvider.returned).get('code') })
)
await readResource(async (uri) => await client.readResource('shop', uri))
const model = new ChatOpenAI({
  model: 'stand-in',
  apiKey: openAi.apiKey,
  useResponsesApi: true,
  configuration: { baseURL: openAi.baseURL }
})
const agent = createAgent({ model, tools })
await agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, { recursionLimit: 200 })
await client.close()
