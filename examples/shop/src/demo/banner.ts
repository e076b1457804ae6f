import type { Demo } from './demo-file.ts'

/**
 * What the demo prints at startup.
 *
 * @param anyCallback - whether clients sign in with callbacks of their own
 * @param file - has the same for programs
 * @param ignored - settings in the environment that the demo ignores
 */
export function bannerOf (
  { base_url: baseUrl, mcp_url: mcpUrl, console_url: consoleUrl, shops, idp, pay, users }: Demo,
  anyCallback: boolean,
  file: string,
  ignored: readonly string[]
): string {
  const [shop] = shops
  return `
  The shop server is up, on this machine only.

  Start page         ${baseUrl}
  Console            ${consoleUrl}
  MCP endpoint       ${mcpUrl}
  REST API           ${baseUrl}/docs
  Identity provider  ${idp.issuer}
  Payment provider   ${pay.url}

  Shops, each with an API key for it
${shops.map(({ id, name, api_key: key }) => `    ${name}\n      id   ${id}\n      key  ${key}`).join('\n')}

  People, to sign in as
${
    users.map(({ username, password, roles }) =>
      `    ${username.padEnd(6)} password ${password}${roles.length > 0 ? `  (${roles.join(', ')})` : ''}`
    ).join('\n')
  }

  Connect a client, with a key or by signing in
    claude mcp add --transport http shop ${mcpUrl} --header "X-API-Key: ${shop?.api_key}"
    claude mcp add --transport http${anyCallback ? '' : ' --callback-port 7777'} shop ${mcpUrl}
    npx mcp-remote@0.15 ${mcpUrl}${anyCallback ? '' : ' 7777 --host localhost --callback-path /callback'}

  All of this as JSON: ${file}
${
    ignored.length === 0
      ? ''
      : `  Ignored settings, since the demo has its own: ${ignored.join(', ')}\n`
  }  Stop with Ctrl-C; the data stays.

`
}
