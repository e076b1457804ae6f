import { program, UNAUTHORIZED, type Client } from '../client.ts'

export const openAiAgents: Client = {
  id: 'openai-agents',
  name: '@openai/agents',
  packages: ['@openai/agents@0.20.0', 'zod@4.6.7'],
  configure:
    "`new MCPServerStreamableHttp({ url, requestInit: { headers: { 'X-API-Key': key } }, cacheToolsList: true " +
    '})`; without `cacheToolsList`, it lists the tools before every turn',
  note: 'An error looks like any other result. The agent stops if the tools cannot be listed, as with a revoked key, ' +
    'or if the model calls a tool that is not listed.',
  isNewest: true,
  asksForProgress: false,
  showsInstructions: false,
  start: program('openai-agents'),
  // An error looks like any other result.
  shows: ({ content }) => content,
  silent: ['forbidden', 'allowed after that'],
  instead: {
    // A tool that is not listed ends the agent.
    forbidden: ['<ended>', 'ModelBehaviorError: Tool create_tag not found in agent lab.'],
    'allowed after that': ['<ended>'],
    // It lists the tools again before the model's turn, and an error there ends the agent.
    revoked: ['<ended>', `SdkHttpError: Error POSTing to endpoint: ${UNAUTHORIZED}`]
  }
}
