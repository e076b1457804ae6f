import { program, UNAUTHORIZED, type Client } from '../client.ts'

export const mastra: Client = {
  id: 'mastra',
  name: '@mastra/mcp',
  packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0', '@ai-sdk/openai@4.0.118', 'zod@4.6.7'],
  configure:
    "`new MCPClient({ servers: { shop: { url: new URL(url), requestInit: { headers: { 'X-API-Key': key } } } } })`",
  note:
    'It checks arguments itself, and drops images. Without `structuredContent`, the model reads the whole message ' +
    'as JSON.',
  isNewest: true,
  asksForProgress: false,
  showsInstructions: false,
  showsViews: true,
  prefix: 'shop_',
  start: program('mastra'),
  shows ({ isError, content, structured }, tool) {
    if (isError) return [JSON.stringify({ error: content.join('\n') })]
    // Of a tool without an output schema the structure alone is shown.
    if (structured !== undefined) return [tool === 'create_product' ? JSON.stringify(structured) : content.join('\n')]
    // Without a structure the whole result is shown.
    const serverInfo = {
      name: tool === 'delete_category' ? 'shop' : 'fixture',
      version: tool === 'delete_category' ? 'VERSION' : '1.0.0'
    }
    const headers = content.filter((text) => /^[\w-]+: /.test(text)).flatMap((block) => block.split('\n')).map((
      header
    ) => header.split(/: (.*)/).slice(0, 2))
    const _meta = {
      'io.modelcontextprotocol/serverInfo': serverInfo,
      ...headers.length > 0 && { 'mcp-from-routes/headers': Object.fromEntries(headers) }
    }
    return [
      JSON.stringify({
        _meta,
        content: content.map((text) => text.startsWith('{"type"') ? JSON.parse(text) : { type: 'text', text })
      })
    ]
  },
  silent: ['forbidden', 'bad argument'],
  instead: {
    forbidden: [JSON.stringify({
      error: 'Tool "shop_create_tag" not found. Available tools: shop_get_attribute, shop_get_category, ' +
        'shop_get_product, shop_get_tag, shop_list_attributes, shop_list_categories, shop_list_products, ' +
        'shop_list_tags. Call tools by their exact name only — never add prefixes, namespaces, or colons.'
    })],
    'bad argument': [JSON.stringify({
      error: true,
      message: 'Tool input validation failed for shop_list_tags. Please fix the following errors and try again:\n- ' +
        'limit: must be <= 200\n\nProvided arguments: {\n  "limit": 1000\n}',
      validationErrors: { errors: [], fields: { limit: { errors: ['must be <= 200'], fields: {} } } }
    })],
    revoked: [JSON.stringify({ error: `Error POSTing to endpoint: ${UNAUTHORIZED}` })],
    // The image is lost.
    image: []
  }
}
