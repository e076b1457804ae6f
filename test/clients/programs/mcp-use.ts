import { application, connected, openAi, task } from './lab.ts'
process.env['MCP_USE_ANONYMIZED_TELEMETRY'] = 'false'
const { ChatOpenAI } = await import('@langchain/openai' as string)
const { auth } = await import('@modelcontextprotocol/sdk/client/auth.js' as string)
const { MCPAgent, MCPClient } = await import('mcp-use' as string)

const authProvider = application()
const client = await connected(
  async () => {
    const client = new MCPClient({
      mcpServers: { shop: { url: task.url, headers: task.headers, ...(task.signsIn && { authProvider }) } }
    })
    await client.createAllSessions()
    return client
  },
  async () =>
    await auth(authProvider, { serverUrl: task.url, authorizationCode: (await authProvider.returned).get('code') })
)
const llm = new ChatOpenAI({
  model: 'stand-in',
  apiKey: openAi.apiKey,
  useResponsesApi: true,
  configuration: { baseURL: openAi.baseURL }
})
const agent = new MCPAgent({ llm, client, maxSteps: 100 })
await agent.run({ prompt: 'go' })
await agent.close()
