import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { MCP_PATH } from '../auth.ts'
import { VERSION } from '../operations/version.ts'
import type { Config } from '../settings/config.ts'
import { DOCS_PATH, OPENAPI_PATH } from './documentation.ts'
import { html, Html } from './html.ts'
import { type ClientSetup, KEY_PLACE, keySetups, loginSetups } from './mcp-clients.ts'

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin-bottom: 0 } h2 { margin-top: 2rem }
code, pre { font: .9rem/1.4 ui-monospace, monospace }
pre { overflow-x: auto; padding: .75rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .4rem }
summary { cursor: pointer } a { color: LinkText }
`

/** The page loads nothing; its style is allowed by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join(';')

type Settings = Pick<Config, 'PUBLIC_BASE_URL' | 'MCP_ENABLED' | 'IDP_MCP_CLIENT_ID' | 'METRICS_TOKEN'>

/** The page at `/`, for people who open the server in a browser. */
export async function landing (app: FastifyInstance, { config }: { readonly config: Settings }): Promise<void> {
  const { text } = page(config)
  app.get('/', { config: { auth: 'public' }, schema: { hide: true } }, async (_request, reply) =>
    await reply.type('text/html; charset=utf-8').header('cache-control', 'public, max-age=300').header('content-security-policy', POLICY).send(text))
}

/** The whole page. */
export function page ({ PUBLIC_BASE_URL, MCP_ENABLED, IDP_MCP_CLIENT_ID, METRICS_TOKEN }: Settings): Html {
  const mcpUrl = new URL(PUBLIC_BASE_URL).origin + MCP_PATH
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shop</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>Shop</h1>
<p>Catalogs of many shops, over REST and as tools for agents. Version ${VERSION}.</p>
${MCP_ENABLED ? tools(mcpUrl, IDP_MCP_CLIENT_ID !== '') : html`<p>The tools for agents are disabled here; <code>MCP_ENABLED=true</code> serves them at <code>${mcpUrl}</code>.</p>`}
<h2>For programs</h2>
<ul>
<li><a href="${DOCS_PATH}">Documentation of the REST API</a>, <a href="${OPENAPI_PATH}">its OpenAPI description</a></li>
<li><a href="/.well-known/oauth-protected-resource">Where to sign in</a> (RFC 9728)</li>
<li><a href="/healthz">Is it up?</a> <a href="/readyz">Is it ready?</a></li>
<li>${METRICS_TOKEN === undefined ? html`Metrics are disabled; <code>METRICS_TOKEN</code> enables them` : html`<a href="/metrics">Metrics</a>, with their bearer token`}</li>
</ul>
</main>
</body>
</html>
`
}

function tools (mcpUrl: string, withLogin: boolean): Html {
  return html`<p>MCP endpoint: <code>${mcpUrl}</code></p>
<h2>Connect an agent with an API key</h2>
<p>Replace <code>${KEY_PLACE}</code> with the key of your shop.</p>
${keySetups(mcpUrl).map(setup)}
${withLogin
? html`<h2>Or sign in</h2>
<p>Without a key the client opens a browser; it must call back on port 7777.</p>
${loginSetups(mcpUrl).map(setup)}`
: html`<p>Browser sign-in is not set up here.</p>`}`
}

function setup ({ client, place, text }: ClientSetup): Html {
  return html`<details><summary>${client}</summary><p>${place}</p><pre><code>${text}</code></pre></details>
`
}
