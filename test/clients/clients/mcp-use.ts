import { readdirSync } from 'node:fs'
import { program, UNAUTHORIZED, type Client } from '../client.ts'

const SKILLS = readdirSync(new URL('../../../examples/shop/skills/catalog', import.meta.url)).map((name) =>
  name.replaceAll('-', '_')
)
const VIEWS = ['products', 'import']

/** The last line with the agent inside: from 2.x on the package is a framework for servers. */
export const mcpUse: Client = {
  id: 'mcp-use',
  name: 'mcp-use',
  packages: ['mcp-use@1.34.6', 'langchain@1.5.14', '@langchain/openai@1.6.0'],
  configure: "`new MCPClient({ mcpServers: { shop: { url, headers: { 'X-API-Key': key } } } })`",
  note: 'The model reads the whole result as JSON, so the data twice. Each resource, skill and view becomes a tool.',
  isNewest: false,
  asksForProgress: false,
  showsInstructions: false,
  start: program('mcp-use'),
  reads: () => ({ name: 'change_prices', arguments: {} }),
  // It makes a tool of each resource, and so of the page of each skill, and of each view.
  toolsOf: ({ tools }) => tools.filter((name) => ![...SKILLS, ...VIEWS].includes(name)),
  // The whole result is shown: the data twice, as text and as structure.
  shows (answer) {
    const headers = answer.content.slice(1).flatMap((block) => block.split('\n')).map((header) =>
      header.split(/: (.*)/).slice(0, 2)
    )
    const blocks = answer.content.map((text) => text.startsWith('{"type"') ? JSON.parse(text) : { type: 'text', text })
    const structuredContent = answer.structured
    return [JSON.stringify({
      ...(headers.length > 0 && { _meta: { 'mcp-from-routes/headers': Object.fromEntries(headers) } }),
      content: blocks,
      ...(structuredContent !== undefined && { structuredContent }),
      ...(answer.isError && { isError: true })
    })]
  },
  silent: ['forbidden'],
  instead: {
    forbidden: [
      'Error: create_tag is not a valid tool, try one of [get_attribute, get_category, get_product, get_tag, ' +
      'list_attributes, list_categories, list_products, list_tags, import, products].'
    ],
    revoked: [`Error executing MCP tool: Error: Streamable HTTP error: Error POSTing to endpoint: ${UNAUTHORIZED}`],
    image: [
      '{"content":[{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60' +
      'e6kgAAAABJRU5ErkJggg==","mimeType":"image/png"}]}'
    ]
  }
}
