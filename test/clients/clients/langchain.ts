import { program, UNAUTHORIZED, type Client } from '../client.ts'

export const langchain: Client = {
  id: 'langchain',
  name: '@langchain/mcp-adapters',
  packages: ['@langchain/mcp-adapters@1.1.4', 'langchain@1.5.14', '@langchain/openai@1.6.0'],
  configure: "`new MultiServerMCPClient({ mcpServers: { shop: { url, headers: { 'X-API-Key': key } } } })`",
  note: 'The model reads a single text together with `structuredContent`, so the data twice. It checks arguments ' +
    'itself. Embedded resources reach only your application.',
  isNewest: false,
  asksForProgress: false,
  showsInstructions: false,
  start: program('langchain'),
  shows ({ isError, content, structured }, tool) {
    if (isError) {
      return [
        `ToolException: MCP tool '${tool}' on server 'shop' returned an error: ${content.join('\n')}\n Please ` +
        'fix your mistakes.'
      ]
    }
    const [text, ...more] = content.map((text) => ({ type: 'text', text }))
    if (more.length > 0) return [JSON.stringify([text, ...more])]
    // One block is shown with the structure, which says the same once more.
    return structured === undefined ? content : [JSON.stringify({ ...text, structuredContent: structured })]
  },
  silent: ['forbidden', 'bad argument'],
  instead: {
    forbidden: [
      'Error: create_tag is not a valid tool, try one of [get_attribute, get_category, get_product, get_tag, ' +
      'list_attributes, list_categories, list_products, list_tags].'
    ],
    // The stack trace takes the place of the reason.
    'bad argument': [
      'Error invoking tool \'list_tags\' with kwargs {"limit":1000} with error: Error: Received tool input did ' +
      'not match expected schema STACK\n Please fix the error and try again.'
    ],
    revoked: [
      'ToolException: Error calling tool list_tags: Error: Streamable HTTP error: Error POSTing to endpoint: ' +
      `${UNAUTHORIZED}\n Please fix your mistakes.`
    ],
    // It keeps embedded resources for the application: the model reads nothing.
    binary: []
  }
}
