import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Browser, Frame, Page } from 'playwright-core'
import type { Test } from 'tap'
import { build } from 'vite'
import { faultsOf } from './browser.ts'

interface Csp {
  readonly connectDomains?: readonly string[]
  readonly resourceDomains?: readonly string[]
}

/** A view in the page of a host. */
export interface OpenView {
  readonly page: Page
  readonly view: Frame
  /** The calls of the view, oldest first. */
  readonly calls: ReadonlyArray<{ readonly name: string, readonly arguments: any }>
  /** Addresses outside this machine whose requests left the browser. */
  readonly left: readonly string[]
}

/** The policy of a view's frame, as the specification of MCP Apps writes it. */
function policyOf ({ connectDomains = [], resourceDomains = [] }: Csp): string {
  const loaded = resourceDomains.join(' ')
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${loaded}`,
    `style-src 'self' 'unsafe-inline' ${loaded}`,
    `connect-src ${connectDomains.join(' ') || "'none'"}`,
    `img-src 'self' data: ${loaded}`,
    `font-src 'self' ${loaded}`,
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'self'"
  ].join('; ')
}

/**
 * Between host and view: it shows the view in a frame without an origin, whose policy is that of this page, and passes
 * messages on.
 */
const SANDBOX = `<!doctype html><meta name="color-scheme" content="light dark">
<style>html, body, iframe { margin: 0; width: 100%; height: 100%; border: 0 }</style><script>
const frame = document.createElement('iframe')
frame.sandbox = 'allow-scripts'
frame.title = 'View'
document.documentElement.append(frame)
addEventListener('message', ({ source, data }) => {
  if (source === frame.contentWindow) parent.postMessage(data, '*')
  else if (data.method === 'ui/notifications/sandbox-resource-ready') frame.srcdoc = data.params.html
  else frame.contentWindow.postMessage(data, '*')
})
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*')
</script>`

async function serve (
  t: Test,
  pages: (path: string) => { readonly type: string, readonly text: string, readonly policy?: string | undefined }
): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const { type, text, policy } = pages(url)
    response.writeHead(200, {
      'content-type': `${type}; charset=utf-8`,
      ...policy !== undefined && { 'content-security-policy': policy }
    }).end(text)
  })
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/**
 * A host with MCP Apps: shows the view of a call of a tool, with the official bridge, in a sandboxed frame of another
 * origin.
 */
export async function viewHost (
  t: Test,
  browser: Browser
): Promise<
  (
    options: {
      readonly mcpUrl: string,
      readonly key: string,
      readonly tool: string,
      readonly args: Record<string, unknown>,
      readonly theme?: 'light' | 'dark',
      readonly width?: number,
      readonly variables?: Record<string, string>
    }
  ) => Promise<OpenView>
> {
  const { NODE_ENV } = process.env
  const { output: [{ code }] } = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      minify: false,
      modulePreload: false,
      rolldownOptions: { input: fileURLToPath(new URL('host-page.ts', import.meta.url)) }
    }
  }) as unknown as { output: [{ code: string }] }
  // Vite sets it for the whole process, which runs other tests too.
  if (NODE_ENV === undefined) delete process.env['NODE_ENV']
  else process.env['NODE_ENV'] = NODE_ENV
  let csp: Csp = {}
  const sandbox = await serve(t, () => ({ type: 'text/html', text: SANDBOX, policy: `${policyOf(csp)}` }))
  const origin = await serve(t, (path) =>
    path === '/host.js'
      ? { type: 'text/javascript', text: code }
      : {
        type: 'text/html',
        text: '<!doctype html><html lang="en"><title>Host</title><meta name="color-scheme" content="light ' +
          'dark"><main><h1>Conversation</h1><iframe title="View of a tool" ' +
          'style="width:100%;height:300px;border:0"></iframe></main><script type="module" ' +
          'src="/host.js"></script>'
      })

  return async ({ mcpUrl, key, tool: name, args, theme = 'light', width = 720, variables = {} }) => {
    const client = new Client({ name: 'test-host', version: '1.0.0' }, {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } }
    })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit: { headers: { 'x-api-key': key } } })
    )
    t.teardown(async () => {
      await client.close()
    })
    const tool = (await client.listTools()).tools.find((one) => one.name === name)!
    const { resourceUri } = tool._meta!['ui'] as { readonly resourceUri: string }
    const { contents: [content] } = await client.readResource({ uri: resourceUri })
    csp = (content!._meta!['ui'] as { readonly csp?: Csp }).csp ?? {}

    const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    t.teardown(async () => {
      await context.close()
    })
    const page = await context.newPage()
    const [calls, left, faults]: [Array<{ name: string, arguments: any }>, string[], string[]] = [[], [], []]
    faultsOf.set(page, faults)
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('console', (message) => {
      if (/Content Security Policy|Uncaught/.test(message.text())) faults.push(message.text())
    })
    // Of what a policy refuses, nothing arrives here.
    await context.route(/^https:/, async (route) => {
      left.push(route.request().url())
      await route.fulfill({ body: '' })
    })
    await page.exposeFunction(
      'callTool',
      async (params: { readonly name: string, readonly arguments: Record<string, unknown> }) => {
        calls.push(params)
        return await client.callTool(params)
      }
    )
    await page.goto(origin)
    // Not before: what the tool started goes on while a page opens.
    const result = await client.callTool({ name, arguments: args })
    await page.evaluate(
      `show(${
        JSON.stringify({ sandbox, html: (content as { text: string }).text, tool, args, result, theme, variables })
      })`
    )
    return { page, view: page.frames().at(-1)!, calls, left }
  }
}
