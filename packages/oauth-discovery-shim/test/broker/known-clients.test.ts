import t from 'tap'
import { authorizeUrl, base, brokerWorld, pkce, signIn, token } from './world.ts'

/** What clients register, and the callback that they then use, as their sources, makers or users show it. */
const known: ReadonlyArray<
  {
    readonly name: string,
    readonly registration: object,
    readonly callback: string,
    readonly parameters?: Record<string, string | undefined>
  }
> = [
  {
    name: 'VS Code, when its port is taken',
    registration: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/'
      ],
      scope: 'openid email profile',
      token_endpoint_auth_method: 'none'
    },
    callback: 'http://127.0.0.1:59656/',
    parameters: { state: 'ey/lnTwSm9FUcQN+Qds=' }
  },
  {
    name: 'VS Code, by its site',
    registration: { redirect_uris: ['https://vscode.dev/redirect'] },
    callback: 'https://vscode.dev/redirect',
    parameters: { state: 'vscode://vscode.github-authentication/did-authenticate?nonce=1&windowId=1' }
  },
  {
    name: 'Cursor',
    registration: {
      client_name: 'Cursor',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback'
      ]
    },
    callback: 'cursor://anysphere.cursor-mcp/oauth/callback'
  },
  {
    name: 'Cursor in the cloud',
    registration: {
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback'
      ]
    },
    callback: 'https://www.cursor.com/agents/mcp/oauth/callback'
  },
  {
    name: 'claude.ai',
    registration: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'openid email profile'
    },
    callback: 'https://claude.ai/api/mcp/auth_callback'
  },
  {
    name: 'ChatGPT',
    registration: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'none'
    },
    callback: 'https://chatgpt.com/connector_platform_oauth_redirect'
  },
  {
    name: 'ChatGPT, a connector of its own',
    registration: { client_name: 'ChatGPT', redirect_uris: ['https://chatgpt.com/connector/oauth/kDmjx77UnKOM'] },
    callback: 'https://chatgpt.com/connector/oauth/kDmjx77UnKOM'
  },
  {
    name: 'Claude Code',
    registration: {
      client_name: 'Claude Code (shop)',
      application_type: 'native',
      redirect_uris: ['http://localhost:3118/callback'],
      token_endpoint_auth_method: 'none'
    },
    callback: 'http://localhost:54321/callback',
    parameters: { resource: base }
  },
  {
    name: 'Codex',
    registration: {
      client_name: 'Codex',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1:37819/callback/511IAWpEhCiu']
    },
    callback: 'http://127.0.0.1:37820/callback/511IAWpEhCiu'
  },
  {
    name: 'MCP Inspector',
    registration: {
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      scope: ''
    },
    callback: 'http://localhost:6274/oauth/callback',
    parameters: { scope: undefined }
  },
  {
    name: 'mcp-remote',
    registration: {
      client_name: 'MCP CLI Proxy',
      redirect_uris: ['http://localhost:3334/oauth/callback'],
      token_endpoint_auth_method: 'client_secret_post',
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d'
    },
    callback: 'http://localhost:3334/oauth/callback',
    parameters: { scope: 'openid email profile phone' }
  },
  {
    name: 'a client of an older revision, which sends no resource',
    registration: { redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'] },
    callback: 'http://127.0.0.1:19876/mcp/oauth/callback',
    parameters: { resource: undefined, state: undefined }
  }
]

for (const { name, registration, callback, parameters } of known) {
  t.test(`${name} signs in and refreshes`, async (t) => {
    const world = await brokerWorld(t)
    const registered = await world.app.inject({ method: 'POST', url: '/oauth/clients', payload: registration })
    t.equal(registered.statusCode, 201, registered.body)
    const { client_id: clientId, token_endpoint_auth_method: method } = registered.json()
    t.equal(method, 'none')
    const { verifier, challenge } = pkce()
    const landed = await signIn(world, authorizeUrl(clientId, challenge, { redirect_uri: callback, ...parameters }))
    t.ok(landed.href.startsWith(`${callback}?code=`), landed.href)
    if (parameters?.['state']) t.equal(landed.searchParams.get('state'), parameters['state'])
    const exchanged = await token(world, {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: landed.searchParams.get('code')!,
      code_verifier: verifier,
      redirect_uri: callback,
      resource: parameters?.['resource']
    })
    t.equal(exchanged.statusCode, 200, exchanged.body)
    t.equal(
      (await token(world, {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: exchanged.json().refresh_token
      })).statusCode,
      200
    )
  })
}
