import { writeFileSync } from 'node:fs'
import type { Client, Command, Place } from '../client.ts'
import { SKILL_CONTENT } from '../skill.ts'

export const codex: Client = {
  id: 'codex',
  name: 'Codex',
  packages: ['@openai/codex@0.171.0'],
  isLarge: true,
  staysForHours: true,
  configure:
    '`[mcp_servers.shop]`, `url = "http://localhost:8080/mcp"`, `http_headers = { "X-API-Key" = "shop_…" }` in ' +
    '`~/.codex/config.toml`',
  note: 'The model reads only `structuredContent`. If nobody can approve calls, it refuses tools that delete or ' +
    'replace, unless `default_tools_approval_mode = "approve"`. `oauth-discovery-shim doctor` prints its callback.',
  document: { own: 'https://chatgpt.com/oauth/codex/client.json' },
  isNewest: false,
  asksForProgress: true,
  showsInstructions: true,
  reads: (uri) => ({ name: 'read_mcp_resource', arguments: { server: 'shop', uri } }),
  prefix: 'mcp__shop__',
  login: (place) => ({ ...codexAt(place), args: [...codexAt(place).args, 'mcp', 'login', 'shop'] }),
  start: (place) => ({
    ...codexAt(place),
    args: [...codexAt(place).args, 'exec', '--skip-git-repo-check', '--json', 'go']
  }),
  // A result with a structure is that alone.
  shows (answer) {
    if (answer.structured !== undefined) return [`Wall time: N seconds\nOutput:\n${JSON.stringify(answer.structured)}`]
    return ['Wall time: N seconds\nOutput:', ...answer.content]
  },
  silent: ['forbidden'],
  instead: {
    skill: [JSON.stringify({ server: 'shop', uri: SKILL_CONTENT.uri, contents: [SKILL_CONTENT] })],
    forbidden: ['unsupported call: mcp__shopcreate_tag'],
    revoked: ['Wall time: N seconds\nOutput:', 'Authentication required']
  }
}

function codexAt ({ folder, node, home, url, headers, model }: Place): Command {
  const table = Object.entries(headers).map(([name, value]) => `"${name}" = "${value}"`).join(', ')
  writeFileSync(
    `${home}/config.toml`,
    `
model = "stand-in"
model_provider = "lab"
approval_policy = "never"
mcp_oauth_credentials_store = "file"
[model_providers.lab]
name = "lab"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
[mcp_servers.shop]
url = "${url}"
http_headers = { ${table} }
default_tools_approval_mode = "approve"
`
  )
  return {
    command: node,
    args: [`${folder}/node_modules/@openai/codex/bin/codex.js`],
    env: { CODEX_HOME: home, LAB_KEY: 'stand-in' }
  }
}
