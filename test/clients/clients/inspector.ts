import { asContent, program, type Client } from '../client.ts'

/** The command line, which people run: it shows results as JSON. */
export const inspector: Client = {
  id: 'inspector',
  name: 'MCP Inspector',
  packages: ['@modelcontextprotocol/inspector@2.12.0'],
  configure: '`npx @modelcontextprotocol/inspector@2 --cli http://localhost:8080/mcp --transport http --header ' +
    '"X-API-Key: shop_…" --method tools/list`',
  note: 'Needs Node.js 22.19. `--method skills/list --verify` checks the skills, `--method tools/list --strict` the ' +
    'schemas. Signing in needs a terminal or `MCP_AUTO_OPEN_ENABLED=true`; `--client-metadata-url` names a ' +
    'metadata document.',
  document: 'told',
  isNewest: false,
  asksForProgress: false,
  showsInstructions: true,
  listsSkills: true,
  start (place) {
    const { env, ...command } = program('inspector')(place)
    return { ...command, env: { ...env, ...(place.signsIn && { MCP_AUTO_OPEN_ENABLED: 'true' }) } }
  },
  // Each command connects again, and is stopped by the challenge.
  silent: ['forbidden', 'revoked'],
  instead: {
    forbidden: [
      '<throws exit 5>',
      '{"error":{"code":"tool_not_found","message":"Tool \'create_tag\' not found on server."}}'
    ],
    revoked: [
      '<throws exit 3>',
      '{"error":{"code":"auth_required","message":"Interactive OAuth requires a TTY on stdin or stderr (or ' +
      'MCP_AUTO_OPEN_ENABLED=true). For CI/non-interactive runs use --stored-auth-only."}}'
    ]
  },
  shows: asContent
}
