import { callbacks, startIdentityProvider } from 'identity-provider'
import { relative } from 'node:path'
import { refuse } from '../commands/refuse.ts'
import { serve } from '../commands/serve.ts'
import { SHOP_SETTINGS } from '../errors.ts'
import { keyRing } from '../pay/key-ring.ts'
import { settingsFromEnvironment, settings } from '../settings/settings.ts'
import { restoreCustomers, startDemoPay } from '../samples/accounts.ts'
import { bannerOf } from './banner.ts'
import { type Demo, demoDataDir, readDemo, writeDemo } from './demo-file.ts'
import { keysForShops } from './keys.ts'
import { startLeakScanner } from './leak-scanner.ts'
import { demoAdmins, DEMO_PEOPLE, seedPeople } from './people.ts'
import { freePortFrom } from './ports.ts'
import { demoSecrets } from './secrets.ts'
import { demoShops } from '../samples/shops.ts'
import { type SeededShop, seedDemo } from '../samples/seed.ts'

const CLIENT_ID = 'shop-mcp'
const CONSOLE_CLIENT_ID = 'shop-console'
const MACHINE_ID = 'shop-machine'

/** The settings that the demo uses. It ignores others, which are meant for a real server, and says so. */
const TAKEN = [
  'PORT',
  'LOG_LEVEL',
  'DATABASE_URL',
  'DATA_DIR',
  'MAX_EVENT_LOOP_DELAY',
  'MCP_IMPORTS_ENABLED',
  'MCP_VIEWS_ENABLED',
  'OAUTH_BROKER',
  'OAUTH_BROKER_DOCUMENTS',
  'PAY_SCHEDULE_CHECK',
  'PAY_SCHEDULE_CHANGES',
  'PAY_SCHEDULE_TIMEZONE'
]

/** The demo: the same server with an identity provider, defaults and data to try it. */
try {
  const { PORT = '8080', LOG_LEVEL = 'warn', DATABASE_URL = '', ...given } = Object.fromEntries(
    TAKEN.map((name) => [name, process.env[name]])
  )
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_000) throw new SHOP_SETTINGS('  PORT must be a number up to 65000')
  const port = await freePortFrom(Number(PORT))
  // If the server may use any port, so may the others.
  const portBeside = async (distance: number): Promise<number> => await freePortFrom(PORT === '0' ? 0 : port + distance)
  const baseUrl = `http://localhost:${port}`
  const secrets = demoSecrets(
    demoDataDir,
    DEMO_PEOPLE.map(({ username }) => username),
    demoShops.map(({ slug }) => slug)
  )
  const users = DEMO_PEOPLE.map(({ username, roles }) => ({ username, password: secrets.passwords[username]!, roles }))

  const identityProvider = await startIdentityProvider({
    port: await portBeside(1),
    users: users.map((user, index) => ({ ...user, name: DEMO_PEOPLE[index]!.name, groups: user.roles })),
    dataDir: demoDataDir,
    resource: baseUrl,
    clientId: CLIENT_ID,
    consoleClientId: CONSOLE_CLIENT_ID,
    redirectUris: [
      ...callbacks,
      `${baseUrl}/docs/static/oauth2-redirect.html`,
      ...(given['OAUTH_BROKER'] === 'false' ? [] : [`${baseUrl}/oauth/callback`])
    ],
    m2m: { clientId: MACHINE_ID, clientSecret: secrets.machineSecret }
  })
  const idp: Demo['idp'] = {
    issuer: identityProvider.issuer,
    mcp_client_id: CLIENT_ID,
    m2m: { client_id: MACHINE_ID, client_secret: secrets.machineSecret, scope: `${baseUrl}/api` }
  }

  const standIn = await startDemoPay(await portBeside(2), secrets.payKeys)
  const scanner = await startLeakScanner(await portBeside(3), baseUrl)

  const config = settingsFromEnvironment({ ...given, LOG_LEVEL, DATABASE_URL, PORT: String(port) }, {
    MCP_ENABLED: true,
    DATA_DIR: demoDataDir,
    PUBLIC_BASE_URL: baseUrl,
    IDP_ISSUER: idp.issuer,
    IDP_MCP_CLIENT_ID: CLIENT_ID,
    CONSOLE_ENABLED: true,
    IDP_CONSOLE_CLIENT_ID: CONSOLE_CLIENT_ID,
    IDP_M2M_CLIENT_IDS: MACHINE_ID,
    OAUTH_BROKER: true,
    // The demo also works on a machine without the internet.
    OAUTH_BROKER_DOCUMENTS: false,
    OAUTH_BROKER_SECRETS: `demo:${secrets.brokerSecret}`,
    API_KEY_PEPPERS: `demo:${secrets.pepper}`,
    PAY_KEY_SECRETS: `demo:${secrets.payKeySecret}`,
    PAY_API_URL: standIn.url,
    PAY_WEBHOOKS_ENABLED: true,
    SECRET_SCANNING_ENABLED: true,
    SECRET_SCANNING_KEYS_URL: `${scanner}/keys`,
    ADMIN_SUBJECTS: demoAdmins.join(','),
    METRICS_TOKEN: secrets.metricsToken,
    // Developer tools are web pages on other ports.
    CORS_ORIGINS: 'http://localhost:*,http://127.0.0.1:*',
    // A new data directory has new secrets, and DATABASE_URL may name another database.
    ALLOW_INSECURE: 'lost-secrets',
    // The demo is for trying, also with programs that do not wait.
    RATE_LIMIT_MAX: 1_000_000,
    RATE_LIMIT_ANONYMOUS_MAX: 1_000_000,
    RATE_LIMIT_REFUSED_MAX: 1_000_000,
    SHUTDOWN_DELAY: 0
  })
  let shops: readonly SeededShop[] = []
  // The server listens before it has them.
  const keys: string[] = []
  const app = await serve(config, async (database) => {
    shops = await seedDemo(database, { payKeys: secrets.payKeys, keys: keyRing(config.PAY_KEY_SECRETS) })
    await restoreCustomers(database.knex, standIn, secrets.payKeys)
    await seedPeople(database.knex)
  }, () => keys[0])

  const demo: Demo = {
    base_url: baseUrl,
    mcp_url: `${baseUrl}/mcp`,
    console_url: `${baseUrl}/console`,
    shops: await keysForShops(app, shops, { idp, last: readDemo() }),
    idp,
    pay: { url: standIn.url },
    scanner: { url: scanner },
    metrics: { url: `${baseUrl}/metrics`, token: secrets.metricsToken },
    users
  }
  keys.push(...demo.shops.map(({ api_key: key }) => key))
  process.stdout.write(
    bannerOf(
      demo,
      config.OAUTH_BROKER,
      relative(process.cwd(), writeDemo(demo)),
      Object.keys(settings).filter((name) => process.env[name] && !TAKEN.includes(name))
    )
  )
} catch (error) {
  refuse(error)
}
