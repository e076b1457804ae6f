/**
 * Metadata documents of clients (draft-ietf-oauth-client-id-metadata-document), by URL, as their makers publish them or
 * users report them.
 */
export const documents: Readonly<Record<string, object>> = {
  'https://claude.ai/oauth/claude-code-client-metadata': {
    client_name: 'Claude Code',
    client_uri: 'https://claude.ai',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'none'
  },
  'https://claude.ai/oauth/mcp-oauth-client-metadata': {
    client_name: 'Claude',
    client_uri: 'https://claude.ai',
    redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    token_endpoint_auth_method: 'none'
  },
  'https://chatgpt.com/oauth/client.json': {
    client_name: 'ChatGPT',
    client_uri: 'https://chatgpt.com/',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    token_endpoint_auth_signing_alg: 'RS256',
    jwks_uri: 'https://chatgpt.com/oauth/jwks.json'
  },
  'https://chatgpt.com/oauth/codex/client.json': {
    client_name: 'Codex',
    redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
    token_endpoint_auth_method: 'none'
  },
  'https://vscode.dev/oauth/client-metadata.json': {
    client_name: 'Visual Studio Code',
    client_uri: 'https://code.visualstudio.com',
    redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    token_endpoint_auth_method: 'none'
  },
  'https://zed.dev/oauth/client-metadata.json': {
    client_name: 'Zed',
    client_uri: 'https://zed.dev',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none'
  }
}

/** Where the lab describes a client that is told the URL of a document. */
export function documentOf (id: string): string {
  return `https://lab.example.com/${id}.json`
}

/** The document at a URL; `undefined` if there is none. */
export function documentAt (url: string): object | undefined {
  const own = url.startsWith(documentOf('').slice(0, -'.json'.length))
    ? {
      client_name: 'lab',
      redirect_uris: [
        'http://localhost/callback',
        'http://127.0.0.1/callback',
        'http://localhost/oauth/callback',
        'http://127.0.0.1/oauth/callback'
      ]
    }
    : documents[url]
  return own &&
    { client_id: url, grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], ...own }
}

/** The hosts that serve them. */
export const hosts: readonly string[] = [
  ...new Set([...Object.keys(documents), documentOf('x')].map((url) => new URL(url).hostname))
]
