/** How to connect a client to the server: a command, or a part of its configuration file. */
export interface ClientSetup {
  readonly client: string
  /** Where it goes. */
  readonly place: string
  readonly text: string
}

/** Placeholder for the key. */
export const KEY_PLACE = 'YOUR_API_KEY'

/**
 * Copy-paste lines for the clients that agents run in, each with an API key.
 *
 * @param key - default: a placeholder
 * @see [Claude Code](https://code.claude.com/docs/en/mcp), [Cursor](https://cursor.com/docs/context/mcp),
 * [VS Code](https://code.visualstudio.com/docs/copilot/reference/mcp-configuration),
 * [Codex](https://developers.openai.com/codex/mcp)
 */
export function keySetups (mcpUrl: string, key = KEY_PLACE): readonly ClientSetup[] {
  const headers = { 'X-API-Key': key }
  return [
    {
      client: 'Claude Code',
      place: 'in a terminal',
      text: `claude mcp add --transport http shop ${mcpUrl} --header "X-API-Key: ${key}"`
    },
    { client: 'Cursor', place: '.cursor/mcp.json', text: json({ mcpServers: { shop: { url: mcpUrl, headers } } }) },
    {
      client: 'VS Code',
      place: '.vscode/mcp.json',
      text: json({ servers: { shop: { type: 'http', url: mcpUrl, headers } } })
    },
    {
      client: 'Codex',
      place: '~/.codex/config.toml',
      text: `[mcp_servers.shop]\nurl = ${JSON.stringify(mcpUrl)}\nhttp_headers = { "X-API-Key" = "${key}" }`
    },
    {
      client: 'Over stdio',
      place: 'the configuration of a stdio client, such as claude_desktop_config.json',
      text: json({
        mcpServers: {
          shop: {
            command: 'npx',
            args: ['-y', 'mcp-remote@0.15', mcpUrl, '--header', ['X-API-Key:', '{SHOP_API_KEY}'].join('$')],
            env: { SHOP_API_KEY: key }
          }
        }
      })
    }
  ]
}

/**
 * The same for people who sign in.
 *
 * @param anyCallback - whether clients may have callbacks of their own. Otherwise it is the one that is registered at
 *   the identity provider, and Codex is not among the clients: its callback has an id of the URL in its path
 */
export function loginSetups (mcpUrl: string, anyCallback: boolean): readonly ClientSetup[] {
  if (anyCallback) {
    return [
      { client: 'Claude Code', place: 'in a terminal', text: `claude mcp add --transport http shop ${mcpUrl}` },
      { client: 'Cursor', place: '.cursor/mcp.json', text: json({ mcpServers: { shop: { url: mcpUrl } } }) },
      {
        client: 'VS Code',
        place: '.vscode/mcp.json',
        text: json({ servers: { shop: { type: 'http', url: mcpUrl } } })
      },
      { client: 'Codex', place: 'in a terminal', text: `codex mcp add shop --url ${mcpUrl}` },
      {
        client: 'Clients in the cloud, such as ChatGPT and claude.ai',
        place: 'as the URL of a connector',
        text: mcpUrl
      },
      { client: 'Over stdio', place: 'in a terminal, to try it', text: `npx -y mcp-remote@0.15 ${mcpUrl}` }
    ]
  }
  return [
    {
      client: 'Claude Code',
      place: 'in a terminal',
      text: `claude mcp add --transport http --callback-port 7777 shop ${mcpUrl}`
    },
    {
      client: 'Over stdio',
      place: 'in a terminal, to try it',
      text: `npx -y mcp-remote@0.15 ${mcpUrl} 7777 --host localhost --callback-path /callback`
    }
  ]
}

function json (value: object): string {
  return JSON.stringify(value, null, 2)
}
