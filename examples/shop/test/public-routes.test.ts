import { readFileSync } from 'node:fs'
import type { RouteOptions } from 'fastify'
import t from 'tap'
import { build, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const page = readFileSync(new URL('../../../docs/shop/api.md', import.meta.url), 'utf8')

/** The public routes by the page, each with the setting that it needs. */
const [, section = ''] = /^### Public routes\n(.*?)^#/ms.exec(page) ?? []
const listed = [...section.matchAll(/^\| (.*`.*) \| (.*) \|$/gm)].flatMap(([, cell = '', setting = '']) =>
  [...cell.matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, route = '']) => ({ route, setting }))
)

/** @returns the routes of an app that take no credential, without the HEAD of each GET and the OPTIONS of CORS */
async function publicRoutes (t: Parameters<typeof build>[0], settings: object): Promise<readonly string[]> {
  const routes: RouteOptions[] = []
  await build(t, database, idp, { settings: { ...settings }, onRoute: (route) => routes.push(route) })
  return routes.filter(({ config, method }) =>
    config?.auth === 'public' && !['HEAD', 'OPTIONS'].includes(String(method))
  ).map(({ method, url }) => `${String(method)} ${url}`).toSorted()
}

t.test('without further settings, the routes that the page calls always public are', async (t) => {
  t.strictSame(
    await publicRoutes(t, { MCP_ENABLED: false }),
    listed.filter(({ setting }) => setting === 'always').map(({ route }) => route).toSorted()
  )
})

t.test('with the settings that the page names, all that it lists are public, and no others', async (t) => {
  const secret = `test:${'s'.repeat(32)}`
  const settings = {
    MCP_ENABLED: true,
    MCP_VIEWS_ENABLED: true,
    CONSOLE_ENABLED: true,
    OAUTH_BROKER: true,
    OAUTH_BROKER_ASSERTION_ISSUERS: 'https://idp.example',
    METRICS_TOKEN: 'token-of-the-metrics',
    SECRET_SCANNING_ENABLED: true,
    PAY_WEBHOOKS_ENABLED: true
  }
  const required = {
    IDP_CONSOLE_CLIENT_ID: 'console',
    OAUTH_BROKER_SECRETS: secret,
    OAUTH_BROKER_ASSERTION_KEYS: secret
  }
  t.strictSame(await publicRoutes(t, { ...settings, ...required }), listed.map(({ route }) => route).toSorted())
  t.strictSame(
    new Set(listed.map(({ setting }) => setting).filter((setting) => setting !== 'always')),
    new Set(Object.keys(settings).map((name) => `\`${name}\``))
  )
})
