/** A client that cannot run here: the lab sends what it sends. */
export interface PlayedClient {
  readonly name: string
  /** Its metadata document, or what it registers. */
  readonly by: { readonly document: string } | { readonly registration: object }
  /** Where it waits for the code: one of its callbacks, on loopback with the port that was free. */
  readonly callback: string
}

/** What their sources, makers or users show. */
export const playedClients: readonly PlayedClient[] = [
  {
    name: 'VS Code',
    by: { document: 'https://vscode.dev/oauth/client-metadata.json' },
    callback: 'http://127.0.0.1:33418/'
  },
  {
    name: 'VS Code, its port taken',
    by: { document: 'https://vscode.dev/oauth/client-metadata.json' },
    callback: 'http://127.0.0.1:59656/'
  },
  {
    name: 'VS Code in a browser',
    by: { document: 'https://vscode.dev/oauth/client-metadata.json' },
    callback: 'https://vscode.dev/redirect'
  },
  {
    name: 'Cursor',
    by: {
      registration: {
        client_name: 'Cursor',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        redirect_uris: [
          'cursor://anysphere.cursor-mcp/oauth/callback',
          'https://www.cursor.com/agents/mcp/oauth/callback',
          'http://localhost:8787/callback'
        ]
      }
    },
    callback: 'cursor://anysphere.cursor-mcp/oauth/callback'
  },
  {
    name: 'Zed',
    by: { document: 'https://zed.dev/oauth/client-metadata.json' },
    callback: 'http://127.0.0.1:49152/callback'
  },
  {
    name: 'ChatGPT',
    by: { document: 'https://chatgpt.com/oauth/client.json' },
    callback: 'https://chatgpt.com/connector_platform_oauth_redirect'
  },
  {
    name: 'claude.ai',
    by: { document: 'https://claude.ai/oauth/mcp-oauth-client-metadata' },
    callback: 'https://claude.ai/api/mcp/auth_callback'
  }
]
