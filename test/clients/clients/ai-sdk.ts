import { program, UNAUTHORIZED, type Client } from '../client.ts'

export const aiSdk: Client = {
  id: 'ai-sdk',
  name: '@ai-sdk/mcp',
  packages: ['@ai-sdk/mcp@2.0.99', 'ai@7.0.173', '@ai-sdk/openai@4.0.118', 'zod@4.6.7'],
  configure: "`createMCPClient({ transport: { type: 'http', url, headers: { 'X-API-Key': key } } })`; pass " +
    '`client.instructions` to the model yourself',
  note: 'An error looks like any other result.',
  isNewest: true,
  asksForProgress: false,
  showsInstructions: true,
  start: program('ai-sdk'),
  // An error looks like any other result.
  shows: ({ content }) => content,
  silent: ['forbidden'],
  instead: {
    forbidden: [
      JSON.stringify({
        error: "AI_NoSuchToolError: Model tried to call unavailable tool 'create_tag'. Available tools: " +
          'get_attribute, get_category, get_product, get_tag, list_attributes, list_categories, list_products, ' +
          'list_tags.'
      })
    ],
    revoked: [
      JSON.stringify({
        error: `MCPClientError: MCP HTTP Transport Error: POSTing to endpoint (HTTP 401): ${UNAUTHORIZED}`
      })
    ]
  }
}
