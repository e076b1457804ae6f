import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { SHOP_SETTINGS } from '../errors.ts'
import type { Settings } from '../settings/settings.ts'

/** The views of tools, by name, with what each shows. */
const VIEWS = {
  products: 'Products with pictures and prices, to be filtered.',
  import: 'What a file of products would change, and how far its import is.'
} as const

/** In the built page. */
const ORIGIN = 'ORIGIN_OF_SERVER'

/** A picture is loaded by the host's page. Hosts are web pages over https, or on the machine of a developer. */
const LOADABLE = /^https:|^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/

/** The route of a view, as its tools name it. */
export function viewRoute (name: keyof typeof VIEWS): string {
  return `GET /views/${name}`
}

/**
 * Serves the views that hosts with MCP Apps show in place of results, as `shop-console` was built. They hold no data:
 * what they show is what their host tells them, and what they call is called by it, as the person whose conversation it
 * is. They load nothing but pictures, from this server and CONSOLE_IMAGE_HOSTS.
 *
 * @throws {@link SHOP_SETTINGS} when they were not built
 */
export async function views (
  app: FastifyInstance,
  { config }: { readonly config: Pick<Settings, 'PUBLIC_BASE_URL' | 'CONSOLE_IMAGE_HOSTS'> }
): Promise<void> {
  const { origin } = new URL(config.PUBLIC_BASE_URL)
  const resourceDomains = [origin, ...config.CONSOLE_IMAGE_HOSTS.map((host) => `https://${host}`)].filter((domain) =>
    LOADABLE.test(domain)
  )
  for (const [name, description] of Object.entries(VIEWS)) {
    const page = builtView(name).replaceAll(ORIGIN, origin)
    app.get(
      `/views/${name}`,
      {
        schema: {
          hide: true,
          operationId: `view_${name}`,
          description,
          tags: ['mcp-resource'],
          response: { 200: { content: { 'text/html': { schema: { type: 'string' } } } } }
        },
        config: {
          auth: 'public',
          mcp: { resource: { uri: `ui://shop/${name}`, name, ui: { csp: { resourceDomains }, prefersBorder: true } } }
        }
      },
      async (_request, reply) =>
        await reply.type('text/html; charset=utf-8').header('cache-control', 'public, max-age=300').send(page)
    )
  }
}

function builtView (name: string): string {
  try {
    return readFileSync(new URL(import.meta.resolve(`shop-console/views/${name}.html`)), 'utf8')
  } catch {
    throw new SHOP_SETTINGS('  MCP_VIEWS_ENABLED needs the built views: run npm run build')
  }
}
