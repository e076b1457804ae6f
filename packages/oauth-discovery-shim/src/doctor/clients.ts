import { createHash } from 'node:crypto'

/** What distinguishes one MCP client's way to the sign-in page. */
export interface ClientProfile {
  /** Name for the command line. */
  readonly id: string
  readonly name: string
  /** If the 401 has a challenge: it reads only the document named there, or that first and then the well-known URLs. */
  readonly challenge: 'only' | 'first'
  /** It keeps the slash at the end of the URL it was given when it builds the well-known URL. */
  readonly keepsSlash: boolean
  /**
   * `starts`: it stops unless its URL starts with the documented resource. `same`: it ignores a document with another
   * resource.
   */
  readonly resource: 'starts' | 'same'
  /** It compares the metadata's issuer with the authorization server's URL (RFC 8414 §3.3). */
  readonly checksIssuer: boolean
  /** It rejects metadata without S256. */
  readonly needsPkce: boolean
  /** It rejects a registration without `redirect_uris`. */
  readonly needsRedirectUris: boolean
  /** If neither challenge nor resource document names scopes, it requests none, or all that the server lists. */
  readonly otherwiseScopes: 'none' | 'all'
  /**
   * Its callback URL, where `{id}` stands for a hash of the MCP endpoint's URL; `undefined` if it is not known: the
   * first registered one is used.
   */
  readonly callback: string | undefined
  /**
   * Its metadata document, where it has one: it then does not register, if the server's metadata says that it reads
   * such documents. Its callback is one of the document's, on loopback with any port.
   */
  readonly document?: { readonly url: string, readonly callback: string }
  /** It runs in its maker's cloud, so it reaches only public servers. */
  readonly hosted: boolean
}

const SDK = {
  challenge: 'only',
  keepsSlash: false,
  resource: 'starts',
  checksIssuer: false,
  needsPkce: false,
  needsRedirectUris: true,
  otherwiseScopes: 'none',
  callback: 'http://localhost:7777/callback',
  hosted: false
} as const

/** What Codex puts at the end of its callback, unless it has a metadata document: it is the same for every person. */
function idOfUrl (mcpUrl: string): string {
  return createHash('sha256').update(mcpUrl).digest('base64url').slice(0, 12)
}

/** A client as it comes to this server. */
export function clientAt (mcpUrl: string, client: ClientProfile): ClientProfile {
  return { ...client, callback: client.callback?.replace('{id}', idOfUrl(mcpUrl)) }
}

/** A client known only by its metadata document: it takes the common steps. */
export function clientWith (
  document: { readonly url: string, readonly callback: string },
  name: string
): ClientProfile {
  return { ...SDK, id: document.url, name, checksIssuer: true, needsPkce: true, callback: document.callback, document }
}

/**
 * The clients the doctor knows. The first three run in this package's tests; the steps of Python, VS Code and Zed were
 * read in their source; Codex's callback was seen from its program; the others are described as their makers or users
 * report them, and so are metadata documents.
 */
export const clients: readonly ClientProfile[] = [
  { ...SDK, id: 'sdk-1', name: 'MCP TypeScript SDK 1.x' },
  { ...SDK, id: 'sdk-2', name: 'MCP TypeScript SDK 2.x', checksIssuer: true },
  { ...SDK, id: 'mcp-remote', name: 'mcp-remote', challenge: 'first', checksIssuer: true, otherwiseScopes: 'all' },
  {
    ...SDK,
    id: 'python',
    name: 'MCP Python SDK 2.x',
    challenge: 'first',
    keepsSlash: true,
    checksIssuer: true,
    needsRedirectUris: false,
    otherwiseScopes: 'all'
  },
  {
    ...SDK,
    id: 'claude-code',
    name: 'Claude Code',
    needsPkce: true,
    document: { url: 'https://claude.ai/oauth/claude-code-client-metadata', callback: 'http://localhost:7777/callback' }
  },
  {
    ...SDK,
    id: 'codex',
    name: 'Codex',
    checksIssuer: true,
    callback: 'http://127.0.0.1:7777/callback/{id}',
    document: { url: 'https://chatgpt.com/oauth/codex/client.json', callback: 'http://127.0.0.1:7777/callback' }
  },
  {
    ...SDK,
    id: 'zed',
    name: 'Zed',
    checksIssuer: true,
    needsPkce: true,
    callback: undefined,
    document: { url: 'https://zed.dev/oauth/client-metadata.json', callback: 'http://127.0.0.1:7777/callback' }
  },
  {
    ...SDK,
    id: 'vs-code',
    name: 'VS Code',
    keepsSlash: true,
    resource: 'same',
    needsRedirectUris: false,
    callback: 'http://127.0.0.1:33418/',
    document: { url: 'https://vscode.dev/oauth/client-metadata.json', callback: 'http://127.0.0.1:33418/' }
  },
  { ...SDK, id: 'cursor', name: 'Cursor', needsPkce: true, callback: 'cursor://anysphere.cursor-mcp/oauth/callback' },
  { ...SDK, id: 'inspector', name: 'MCP Inspector', callback: 'http://localhost:6274/oauth/callback' },
  {
    ...SDK,
    id: 'chatgpt',
    name: 'ChatGPT',
    needsPkce: true,
    callback: 'https://chatgpt.com/connector_platform_oauth_redirect',
    document: {
      url: 'https://chatgpt.com/oauth/client.json',
      callback: 'https://chatgpt.com/connector_platform_oauth_redirect'
    },
    hosted: true
  },
  {
    ...SDK,
    id: 'claude-ai',
    name: 'claude.ai',
    needsPkce: true,
    callback: 'https://claude.ai/api/mcp/auth_callback',
    document: {
      url: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
      callback: 'https://claude.ai/api/mcp/auth_callback'
    },
    hosted: true
  }
]
