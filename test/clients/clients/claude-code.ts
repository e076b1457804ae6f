import { writeFileSync } from 'node:fs'
import type { Client } from '../client.ts'
import { SKILL_CONTENT } from '../skill.ts'

const claude = (folder: string): string =>
  `${folder}/node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`

/** Defers tools: its model is told their names, and loads those that it wants. */
export const claudeCode: Client = {
  id: 'claude-code',
  name: 'Claude Code',
  packages: ['@anthropic-ai/claude-code@2.1.332'],
  isLarge: true,
  staysForHours: true,
  configure: '`claude mcp add --transport http shop http://localhost:8080/mcp --header "X-API-Key: shop_…"`',
  note: 'The model reads only `structuredContent`. With `-p`, as tested here, it cancels every question. To sign in: ' +
    'the same without `--header`, then `claude mcp login shop`.',
  document: { own: 'https://claude.ai/oauth/claude-code-client-metadata' },
  isNewest: true,
  closesQuestions: true,
  asksForProgress: true,
  showsInstructions: true,
  reads: (uri) => ({ name: 'ReadMcpResourceTool', arguments: { server: 'shop', uri } }),
  prefix: 'mcp__shop__',
  // It wants a terminal, in which it would show the address of the page.
  login: ({ folder, url }) => ({
    command: 'script',
    args: [
      '-qec',
      `${claude(folder)} mcp add --transport http shop ${url} && ${claude(folder)} mcp login shop`,
      '/dev/null'
    ]
  }),
  start ({ folder, home, url, headers, model, signsIn }) {
    writeFileSync(`${home}/mcp.json`, JSON.stringify({ mcpServers: { shop: { type: 'http', url, headers } } }))
    return {
      command: claude(folder),
      args: [
        '-p',
        'go',
        '--output-format',
        'json',
        '--allowedTools',
        'mcp__shop',
        ...(signsIn ? [] : ['--mcp-config', `${home}/mcp.json`, '--strict-mcp-config'])
      ],
      env: {
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: 'stand-in',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1'
      }
    }
  },
  toolsOf: ({ instructions }) => [...new Set(instructions.match(/mcp__shop__\w+/g))].toSorted(),
  loads: (tools) => ({
    name: 'ToolSearch',
    arguments: { query: `select:${tools.join(',')}`, max_results: tools.length }
  }),
  // A result with a structure is that alone.
  shows (answer) {
    if (answer.isError) return ['<is_error>', answer.content.join('\n')]
    return answer.structured === undefined ? answer.content : [JSON.stringify(answer.structured)]
  },
  silent: ['forbidden'],
  instead: {
    skill: [JSON.stringify({ contents: [SKILL_CONTENT] })],
    nothing: [
      '<is_error>',
      'delete_category was not run: the person closed the question without an answer. Ask what they want before ' +
      'you call it again.'
    ],
    'nobody to ask': [
      '<is_error>',
      'drop_record was not run: the person closed the question without an answer. Ask what they want before you ' +
      'call it again.'
    ],
    forbidden: ['<is_error>', '<tool_use_error>Error: No such tool available: mcp__shop__create_tag</tool_use_error>'],
    revoked: ['<is_error>', 'MCP server "shop" needs you to sign in again (run /mcp to re-authenticate)'],
    image: ['<image>', '[Image: source: FILE.png]'],
    binary: ['[Resource from shop at http://HOST/document] Binary content (application/pdf, 8 bytes) saved to FILE.pdf']
  }
}
