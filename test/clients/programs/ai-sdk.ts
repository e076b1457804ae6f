import { application, connected, openAi, readResource, task } from './lab.ts'
const { auth, createMCPClient } = await import('@ai-sdk/mcp' as string)
const { createOpenAI } = await import('@ai-sdk/openai' as string)
const { generateText, stepCountIs } = await import('ai' as string)

const authProvider = application()
const client = await connected(
  async () =>
    await createMCPClient({
      transport: { type: 'http', url: task.url, headers: task.headers, ...(task.signsIn && { authProvider }) }
    }),
  async () =>
    await auth(authProvider, { serverUrl: task.url, authorizationCode: (await authProvider.returned).get('code') })
)
await readResource(async (uri) => await client.readResource({ uri }))
await generateText({
  model: createOpenAI(openAi)('stand-in'),
  tools: await client.tools(),
  system: client.instructions,
  prompt: 'go',
  stopWhen: stepCountIs(100)
})
await client.close()
