import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { MCP_PATH } from '../auth.ts'
import { VERSION } from '../operations/version.ts'
import type { Settings } from '../settings/settings.ts'
import { CONSOLE_PATH } from './console.ts'
import { DOCS_PATH, OPENAPI_PATH } from './documentation.ts'
import { html, Html } from './html.ts'
import { type ClientSetup, KEY_PLACE, keySetups, loginSetups } from './mcp-clients.ts'

/** How many tabs the style knows: of the clients with a key. */
const TABS = 8

const STYLE = `
:root {
  color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; --primary: light-dark(#3150c9, #9fb2ff);
  --line: color-mix(in srgb, currentColor 22%, transparent); --on-primary: light-dark(#fff, #10131c)
}
body {
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  background: light-dark(#f6f7fb, #10131c); color: light-dark(#1a1d29, #e8eaf2)
}
h1 { margin-bottom: 0 } h2 { margin: 0 0 .5rem; font-size: 1.15rem }
section {
  margin-top: 1.5rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: .6rem;
  background: light-dark(#fff, #181d2a)
}
code, pre { font: .9rem/1.4 ui-monospace, monospace } code { overflow-wrap: anywhere }
pre {
  overflow-x: auto; margin: .5rem 0 0; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem;
  background: light-dark(#f6f7fb, #10131c)
}
a { color: var(--primary) }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0; padding: 0; list-style: none }
.buttons a {
  display: inline-block; padding: .55rem 1rem; border: 1px solid var(--line); border-radius: .5rem; font-weight: 600;
  text-decoration: none
}
.buttons a.main { background: var(--primary); border-color: var(--primary); color: var(--on-primary) }
fieldset { min-inline-size: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 0; padding: 0; border: 0 }
legend { padding: 0 0 .5rem }
fieldset input { position: absolute; opacity: 0 }
fieldset label { padding: .35rem .1rem; border-bottom: 3px solid transparent; cursor: pointer; font-weight: 600 }
fieldset input:checked + label { border-color: var(--primary); color: var(--primary) }
fieldset input:focus-visible + label { outline: 2px solid; outline-offset: 2px }
.setup { display: none; width: 100%; order: 1 }
${
  Array.from({ length: TABS }, (_, n) => `fieldset input:nth-of-type(${n + 1}):checked ~ .setup:nth-of-type(${n + 1})`)
    .join(', ')
} { display: block }
.setup p { display: flex; justify-content: space-between; align-items: center; gap: 1rem; margin: .5rem 0 0 }
button {
  padding: .3rem .8rem; border: 1px solid var(--line); border-radius: .4rem; background: none; color: inherit;
  font: inherit; cursor: pointer
}
button[hidden] { display: none }
`

/** Shows the buttons that copy what stands below them; without scripts there are none. */
const SCRIPT = `
for (const button of document.querySelectorAll('button[data-copy]')) {
  const name = button.textContent
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = name }, 2000)
  })
}
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The page loads nothing; its style and script are allowed by their hashes. */
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join(';')

type Needed = Pick<
  Settings,
  'PUBLIC_BASE_URL' | 'MCP_ENABLED' | 'IDP_MCP_CLIENT_ID' | 'OAUTH_BROKER' | 'METRICS_TOKEN' | 'CONSOLE_ENABLED'
>

/**
 * The page at `/`, for people who open the server in a browser.
 *
 * @param demoKey - an API key for the lines of clients, which everybody reads who opens the page: only a demo has one
 */
export async function landing (
  app: FastifyInstance,
  { config, demoKey }: { readonly config: Needed, readonly demoKey?: (() => string | undefined) | undefined }
): Promise<void> {
  const { text } = page(config)
  const { host: own } = new URL(config.PUBLIC_BASE_URL)
  app.get(
    '/',
    { config: { auth: 'public' }, schema: { hide: true } },
    async ({ host }, reply) => {
      reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY)
      // A page of another site can have its own name lead to this machine, and then read what is here.
      const key = host === own ? demoKey?.() : undefined
      if (key !== undefined) return await reply.send(page(config, key).text)
      return await reply.header('cache-control', 'public, max-age=300').send(text)
    }
  )
}

/**
 * The whole page.
 *
 * @param key - an API key of a demo; default: a placeholder
 */
export function page (settings: Needed, key?: string): Html {
  const { PUBLIC_BASE_URL, MCP_ENABLED, METRICS_TOKEN, CONSOLE_ENABLED } = settings
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
<ul class="buttons">
${CONSOLE_ENABLED ? html`<li><a class="main" href="${CONSOLE_PATH}">Open the console</a></li>` : ''}
${MCP_ENABLED ? html`<li><a href="#agents">Connect an agent</a></li>` : ''}
<li><a href="${DOCS_PATH}">Documentation</a></li>
<li><a href="/readyz">Health</a></li>
</ul>
${
    MCP_ENABLED
      ? tools(mcpUrl, settings, key)
      : html`<p>The tools for agents are disabled here; <code>MCP_ENABLED=true</code> serves them at
<code>${mcpUrl}</code>.</p>`
  }
<section>
<h2>For programs</h2>
<ul>
<li><a href="${DOCS_PATH}">Documentation of the REST API</a>, <a href="${OPENAPI_PATH}">its OpenAPI description</a></li>
<li><a href="/.well-known/oauth-protected-resource">Where to sign in</a> (RFC 9728)</li>
<li><a href="/healthz">Is it up?</a> <a href="/readyz">Is it ready?</a></li>
<li>${
    METRICS_TOKEN.length === 0
      ? html`Metrics are disabled; <code>METRICS_TOKEN</code> enables them`
      : html`<a href="/metrics">Metrics</a>, with their bearer token`
  }</li>
</ul>
</section>
</main>
<script>${new Html(SCRIPT)}<\/script>
</body>
</html>
`
}

function tools (
  mcpUrl: string,
  { PUBLIC_BASE_URL, IDP_MCP_CLIENT_ID, OAUTH_BROKER, CONSOLE_ENABLED }: Needed,
  key: string | undefined
): Html {
  return html`<section id="agents">
<h2>Connect an agent</h2>
<p>MCP endpoint: <code>${mcpUrl}</code></p>
${
    key === undefined
      ? placeOfKey(PUBLIC_BASE_URL, CONSOLE_ENABLED)
      : html`<p>These lines have the key of one shop of this demo. <code>npm start</code> prints one for each shop, and
who can sign in.</p>`
  }
${setups('key', 'With an API key', keySetups(mcpUrl, key))}
</section>
${
    IDP_MCP_CLIENT_ID !== ''
      ? html`<section>
<h2>Or sign in</h2>
<p>Without a key the client opens a browser${OAUTH_BROKER ? '' : '; it must call back on port 7777'}.</p>
${setups('login', 'By signing in', loginSetups(mcpUrl, OAUTH_BROKER))}
</section>`
      : html`<p>Browser sign-in is not set up here.</p>`
  }`
}

/** Where to get what the lines lack. */
function placeOfKey (baseUrl: string, hasConsole: boolean): Html {
  const isLocal = new URL(baseUrl).hostname === 'localhost'
  return html`<p>Replace <code>${KEY_PLACE}</code> with a key of your shop${
    hasConsole ? html`. <a href="${CONSOLE_PATH}">The console</a> creates them, under API keys` : ''
  }.${isLocal ? html` The demo, <code>npm start</code>, prints one for each shop, and who can sign in.` : ''}</p>`
}

/** One tab for each client; the first is open. */
function setups (name: string, legend: string, clients: readonly ClientSetup[]): Html {
  return html`<fieldset><legend>${legend}</legend>
${
    clients.map(({ client }, index) =>
      html`<input type="radio" name="${name}" id="${name}-${String(index)}"${
        index === 0 ? new Html(' checked') : ''
      }><label for="${name}-${String(index)}">${client}</label>
`
    )
  }${
    clients.map(({ place, text }, index) =>
      html`<div class="setup"><p>${place} <button type="button" hidden data-copy="${name}-${
        String(index)
      }-text">Copy</button></p><pre tabindex="0"><code id="${name}-${String(index)}-text">${text}</code></pre></div>
`
    )
  }</fieldset>`
}
