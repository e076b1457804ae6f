import { existsSync } from 'node:fs'
import knex from 'knex'
import t from 'tap'
import { buildApp } from '../src/app.ts'
import { type Settings, settingsFromEnvironment, databaseSettings, seedSettings } from '../src/settings/settings.ts'
import { risksIn } from '../src/settings/risks.ts'
import { lastingData, start } from './process.ts'
import { joined } from '../../../test/joined.ts'

const [SECRET, OTHER] = ['Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL', 'aQ8sW2dE4fR6gT0hY1jU3kI5lO7pZ9xC']
const good = {
  DATABASE_URL: 'postgres://shop@db/shop',
  PUBLIC_BASE_URL: 'https://shop.example.com',
  IDP_ISSUER: 'https://idp.example.com/pool',
  API_KEY_PEPPERS: '2026:Tn6yB1hV4gZ8sC3xM9dL5kQ0wJ7rF2pU',
  PAY_KEY_SECRETS: '2026:Hx5rN0cK9vW3mJ7bS1zP4tG8qD2yL6fA',
  IDP_M2M_CLIENT_IDS: 'erp'
}

const ISSUER =
  'IDP_ISSUER must be an https URL, or http on localhost, 127.0.0.1 or [::1]: over plain http anyone could ' +
  'replace its keys'
const MARKER =
  'API_KEY_MARKER must be lower-case words joined by _, at most 16 characters, and must not start with ey, as tokens do'
const PROXY = 'TRUST_PROXY must be the number of proxies in front of the server, or their addresses or networks: '
const DATABASE =
  'Percent-encode special characters, such as / in a password, or leave the password out and set PGPASSWORD'
const ORIGINS =
  'CORS_ORIGINS must be origins as browsers send them (lower case, without a default port), or a loopback host ' +
  'with any port, such as http://localhost:*. Invalid: '

const HOSTS =
  'CONSOLE_IMAGE_HOSTS must be hosts as browsers send them (lower case, without https:// and a default port), ' +
  'or *. and a host. Invalid: '

/** Settings of the right form that cannot be used all the same. */
const wrong: ReadonlyArray<readonly [name: keyof Settings, value: string, mistake: string]> = [
  ['PUBLIC_BASE_URL', 'https://shop.example.com:http', 'PUBLIC_BASE_URL is not a URL'],
  [
    'PUBLIC_BASE_URL',
    'https://shop.example.com?shop',
    'PUBLIC_BASE_URL must be an origin, without path, query, fragment or user'
  ],
  [
    'PUBLIC_BASE_URL',
    'https://ada@shop.example.com',
    'PUBLIC_BASE_URL must be an origin, without path, query, fragment or user'
  ],
  [
    'CONSOLE_IMAGE_HOSTS',
    'https://cdn.example.com, cdn.example.com, CDN.example.com,*.cdn.example.com:443',
    `${HOSTS}https://cdn.example.com, CDN.example.com, *.cdn.example.com:443`
  ],
  ...[
    '*',
    '*.',
    '**.a.example',
    'a.*.example',
    "'none'",
    'a.example;script-src *',
    'a.example b.example',
    'a.example/b',
    '[::1]',
    '1',
    'a.example:99999'
  ].map((value) => ['CONSOLE_IMAGE_HOSTS', value, `${HOSTS}${value}`] as const),
  ['IDP_ISSUER', 'https://', ISSUER],
  ['IDP_ISSUER', 'https://idp.example.com/?pool', 'IDP_ISSUER must not have a query or fragment'],
  ['IDP_SCOPES', 'openid email', 'IDP_SCOPES must be scopes separated by commas, without spaces and quotes'],
  ['IDP_MCP_CLIENT_ID', 'the client', 'IDP_MCP_CLIENT_ID must be printable ASCII without spaces'],
  ...['Shop', 'my-shop', '_shop', 'shop_', '1shop', 'eyshop', 'a'.repeat(17)].map((value) =>
    ['API_KEY_MARKER', value, MARKER] as const
  ),
  [
    'API_KEY_PEPPERS',
    `k1:${SECRET},k1:${OTHER}`,
    'API_KEY_PEPPERS has several secrets with the id k1: give each secret its own id'
  ],
  [
    'PAY_KEY_SECRETS',
    `k1:${SECRET},k1:${OTHER}`,
    'PAY_KEY_SECRETS has several secrets with the id k1: give each secret its own id'
  ],
  [
    'PAY_KEY_SECRETS',
    `k2:${SECRET}, k1:${SECRET},k1:${OTHER},k2:${OTHER}`,
    'PAY_KEY_SECRETS has several secrets with the id k1, k2: give each secret its own id'
  ],
  ['PAY_API_URL', 'http://pay:x', 'PAY_API_URL is not a URL'],
  [
    'DATABASE_URL',
    'postgres://shop:a/b+c=@postgres:5432/shop',
    `DATABASE_URL is not a URL that the driver can read (Invalid URL). ${DATABASE}`
  ],
  [
    'DATABASE_READ_URL',
    'postgres://reader@db:5432/shop?application_name=lists',
    'DATABASE_READ_URL is the database of DATABASE_URL: set the URL of its standby, or remove it'
  ],
  [
    'DATABASE_URL',
    'postgres://shop@db/shop?sslrootcert=/nowhere.pem',
    'DATABASE_URL is not a URL that the driver can read (ENOENT: no such file or directory, open ' +
    `'/nowhere.pem'). ${DATABASE}`
  ],
  [
    'REDIS_URL',
    'redis://:a/b@redis:6379',
    'REDIS_URL is not a URL. Percent-encode special characters, such as / in a password'
  ],
  ['TRUST_PROXY', 'true', `${PROXY}invalid IP address: true`],
  ['TRUST_PROXY', 'nginx', `${PROXY}invalid IP address: nginx`],
  ['TRUST_PROXY', '10.0.0.1, 10.0.0.0/33', `${PROXY}invalid range on address: 10.0.0.0/33`],
  [
    'CORS_ORIGINS',
    'https://a.example.com,https://B.example.com,https://c.example.com:443',
    `${ORIGINS}https://B.example.com, https://c.example.com:443`
  ]
]

for (const [name, value, mistake] of wrong) {
  t.test(`${name}=${value.replaceAll(SECRET, '…').replaceAll(OTHER, '…')} is allowed by nothing`, async (t) => {
    for (const ALLOW_INSECURE of ['', 'http-issuer,http-base-url,pay-stand-in']) {
      const thrown = t.throws(() =>
        settingsFromEnvironment(
          { ...good, PAY_API_URL: '', [name]: value, ALLOW_INSECURE },
          {},
          name === 'PAY_API_URL' ? undefined : risksIn
        )
      ) as { message: string }
      t.match(thrown, { code: 'SHOP_SETTINGS', message: `These settings cannot be used:\n  ${mistake}` })
      t.equal(thrown.message.split('\n').length, 2, 'it is the only one')
      t.notMatch(thrown.message, SECRET)
    }
  })
}

t.test('an issuer over http on another machine is accepted only where http-issuer is allowed', async (t) => {
  const inCluster = { ...good, IDP_ISSUER: 'http://keycloak:8080/realms/shop' }
  for (const risks of [undefined, risksIn]) {
    t.throws(() => settingsFromEnvironment(inCluster, {}, risks), {
      message:
        `These settings cannot be used:\n  ${ISSUER}. Inside a network of your own, add http-issuer to ALLOW_INSECURE`
    })
  }
  t.match(settingsFromEnvironment({ ...inCluster, ALLOW_INSECURE: 'http-issuer' }, {}, risksIn), {
    IDP_ISSUER: inCluster.IDP_ISSUER
  })
})

t.test('Entra, a client with a secret and a standby need what belongs to them', (t) => {
  for (
    const [settings, mistake] of [
      [
        { IDP_PROVIDER: 'entra' },
        'IDP_AUDIENCE is required with IDP_PROVIDER=entra: the application (client) id of the API'
      ],
      [
        { DATABASE_URL: '', DATABASE_READ_URL: 'postgres://db/shop' },
        'DATABASE_READ_URL needs DATABASE_URL: the embedded database has no standby'
      ],
      [
        { IDP_MCP_CLIENT_ID: 'mcp', IDP_MCP_CLIENT_SECRET: 'x' },
        'IDP_MCP_CLIENT_SECRET needs OAUTH_BROKER: without it, each client would need the secret'
      ]
    ] as const
  ) {
    t.throws(() => settingsFromEnvironment({ ...good, ...settings }), {
      message: `These settings cannot be used:\n  ${mistake}`
    })
  }
  t.match(
    settingsFromEnvironment({
      ...good,
      IDP_PROVIDER: 'entra',
      IDP_AUDIENCE: 'x',
      IDP_SCOPES: 'openid, api://x/access'
    }),
    { IDP_SCOPES: ['openid', 'api://x/access'] }
  )
  t.end()
})

t.test('a setting whose form is wrong is named once', async (t) => {
  t.throws(() => settingsFromEnvironment({ ...good, IDP_ISSUER: 'keycloak', DATABASE_URL: 'mysql://a:b/c' }), {
    message: joined(
      /^These settings cannot be used:\n/,
      / {2}IDP_ISSUER has the wrong format: [^\n]+\n/,
      / {2}DATABASE_URL has the wrong format\.[^\n]+$/
    )
  })
})

t.test('the broker has what it needs, or the server does not start', async (t) => {
  const broker = { ...good, OAUTH_BROKER: 'true', IDP_MCP_CLIENT_ID: 'mcp', OAUTH_BROKER_SECRETS: `2026-01:${SECRET}` }
  for (
    const [settings, mistakes] of [
      [{ OAUTH_BROKER_SECRETS: '' }, ['OAUTH_BROKER_SECRETS is required with OAUTH_BROKER']],
      [{ IDP_MCP_CLIENT_ID: '', OAUTH_BROKER_SECRETS: '' }, [
        'IDP_MCP_CLIENT_ID is required with OAUTH_BROKER',
        'OAUTH_BROKER_SECRETS is required with OAUTH_BROKER'
      ]],
      [{ OAUTH_BROKER_SECRETS: `a:${SECRET},a:${OTHER}` }, [
        'OAUTH_BROKER_SECRETS has several secrets with the id a: give each secret its own id'
      ]],
      [{ OAUTH_BROKER_SECRETS: `2026.01:${SECRET}` }, [
        'OAUTH_BROKER_SECRETS must have ids of 1 to 32 letters, digits, - or _'
      ]],
      [{ OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example' }, [
        'OAUTH_BROKER_ASSERTION_KEYS is required with OAUTH_BROKER_ASSERTION_ISSUERS'
      ]],
      [{ OAUTH_BROKER_ASSERTION_CLIENTS: `a:${SECRET}`, OAUTH_BROKER_ASSERTION_KEYS: `a:${SECRET}` }, [
        'OAUTH_BROKER_ASSERTION_ISSUERS is required with OAUTH_BROKER_ASSERTION_KEYS and OAUTH_BROKER_ASSERTION_CLIENTS'
      ]],
      [{
        OAUTH_BROKER_DOCUMENTS: 'false',
        OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example',
        OAUTH_BROKER_ASSERTION_KEYS: `a:${SECRET}`
      }, [
        'OAUTH_BROKER_ASSERTION_CLIENTS is required with OAUTH_BROKER_ASSERTION_ISSUERS and OAUTH_BROKER_ASSERTION_KEYS'
      ]],
      [{
        OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example, https://acme.example',
        OAUTH_BROKER_ASSERTION_KEYS: `a:${SECRET}`
      }, ['OAUTH_BROKER_ASSERTION_ISSUERS has an issuer twice']],
      [{
        OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example,http://acme.example',
        OAUTH_BROKER_ASSERTION_KEYS: `a.b:${SECRET}`
      }, [
        'OAUTH_BROKER_ASSERTION_ISSUERS must be an https URL, or http on localhost, 127.0.0.1 or [::1]: over ' +
        'plain http anyone could replace its keys. Inside a network of your own, add http-issuer to ' +
        'ALLOW_INSECURE',
        'OAUTH_BROKER_ASSERTION_KEYS must have ids of 1 to 32 letters, digits, - or _'
      ]],
      [{ OAUTH_BROKER: 'false', OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example' }, [
        'OAUTH_BROKER_ASSERTION_ISSUERS needs OAUTH_BROKER'
      ]],
      [{ PUBLIC_BASE_URL: 'http://shop.example.com' }, [
        'PUBLIC_BASE_URL must be https with OAUTH_BROKER, or http on localhost, 127.0.0.1 or [::1]: codes and ' +
        'tokens pass through this server'
      ]]
    ] as const
  ) {
    t.throws(() => settingsFromEnvironment({ ...broker, ...settings }), {
      message: `These settings cannot be used:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`
    })
  }
  t.throws(() => settingsFromEnvironment({ ...broker, OAUTH_BROKER_SECRETS: 'short:x' }), {
    message: /^These settings cannot be used:\n {2}OAUTH_BROKER_SECRETS has the wrong format\.[^\n]+$/
  }, 'and once only')
  t.equal(settingsFromEnvironment(broker).OAUTH_BROKER, true)
  await t.resolves(boot(settingsFromEnvironment(broker)))
  await t.resolves(
    boot(
      settingsFromEnvironment({
        ...broker,
        OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example,https://other.example',
        OAUTH_BROKER_ASSERTION_KEYS: `a:${SECRET}`,
        OAUTH_BROKER_ASSERTION_CLIENTS: `b:${SECRET},b:${OTHER}`
      })
    )
  )
  t.match(
    risksIn({ ...broker, OAUTH_BROKER_ASSERTION_ISSUERS: ['https://acme.example', 'http://127.0.0.1:8083'] }).filter((
      risk
    ) => risk.includes('ASSERTION')),
    [/^OAUTH_BROKER_ASSERTION_ISSUERS has an issuer without https: .*add http-issuer to ALLOW_INSECURE$/]
  )
  t.match(risksIn({ ...broker, OAUTH_BROKER_SECRETS: [`2026-01:${SECRET}`], PAY_KEY_SECRETS: [`2026:${SECRET}`] }), [
    /^PAY_KEY_SECRETS and OAUTH_BROKER_SECRETS share a secret/
  ])
})

t.test('the commands look at their settings in the same way', async (t) => {
  const DATABASE_URL = 'postgres://shop:a/b@postgres/shop'
  t.throws(() => databaseSettings({ DATABASE_URL }), {
    code: 'SHOP_SETTINGS',
    message: /\n {2}DATABASE_URL is not a URL/
  })
  t.throws(() => seedSettings({ DATABASE_URL, PAY_KEY_SECRETS: `k1:${SECRET},k1:${OTHER}` }), {
    code: 'SHOP_SETTINGS',
    message: /\n {2}PAY_KEY_SECRETS has several secrets with the id k1.*\n {2}DATABASE_URL is not a URL/
  })
})

/** Builds the app with settings that nobody has looked at. */
async function boot (settings: object): Promise<void> {
  const database = knex({ client: 'pg' })
  const config = { ...settingsFromEnvironment(good), MCP_ENABLED: true, ...settings }
  const app = await buildApp({
    config,
    database: {
      engine: 'postgres',
      place: 'nowhere',
      knex: database,
      log: { warn: () => {}, error: () => {} },
      logTo: () => {},
      close: async () => {}
    },
    logger: false
  })
  await app.close()
}

t.test('what is no mistake here is none to the parts of the app either', async (t) => {
  for (
    const settings of [
      {
        PUBLIC_BASE_URL: 'https://Shop.Example.com:443/',
        CONSOLE_IMAGE_HOSTS: 'cdn.example.com, *.img.example.com:8443, localhost',
        IDP_ISSUER: 'http://localhost:8081/pool',
        IDP_MCP_CLIENT_ID: '3n4b5urk1ft4fl3mg5e62d9ado',
        API_KEY_MARKER: 'my_shop2_test',
        API_KEY_PEPPERS: `k2:${SECRET}, k1:${OTHER}`,
        PAY_KEY_SECRETS: `k2:${SECRET}, k1:${OTHER} `,
        PAY_API_URL: 'https://pay.example.com/',
        TRUST_PROXY: '2',
        CORS_ORIGINS: 'https://a.example.com, http://localhost:3000'
      },
      { IDP_ISSUER: 'http://[::1]:8081', TRUST_PROXY: '10.0.0.0/8, 192.168.0.0/255.255.0.0,fd00::1, loopback' }
    ]
  ) await t.resolves(boot(settingsFromEnvironment({ ...good, ...settings })), JSON.stringify(settings))
})

t.test('and what they refuse is a mistake here', async (t) => {
  const seen = [
    'PUBLIC_BASE_URL',
    'IDP_ISSUER',
    'IDP_MCP_CLIENT_ID',
    'API_KEY_MARKER',
    'PAY_KEY_SECRETS',
    'TRUST_PROXY',
    'CORS_ORIGINS'
  ]
  for (const [name, value] of wrong.filter(([name]) => seen.includes(name))) {
    await t.rejects(
      boot({
        [name]: name === 'PAY_KEY_SECRETS' || name === 'CORS_ORIGINS'
          ? value.split(',').map((item) => item.trim())
          : value
      }),
      `${name}=${value}`
    )
  }
})

t.test('the server tells them all at once, and has not touched the database', async (t) => {
  const { DATA_DIR } = await lastingData(t)
  await t.rejects(
    start(t, 'server', {
      ...good,
      DATABASE_URL: '',
      DATA_DIR,
      TRUST_PROXY: 'true',
      IDP_ISSUER: 'http://keycloak:8080/realms/shop',
      API_KEY_MARKER: 'Shop',
      PORT: 'http'
    }),
    {
      message: joined(
        /^These settings cannot be used:\n/,
        / {2}PORT must be an integer, not .*\n {2}IDP_ISSUER must be an https URL.*\n/,
        / {2}API_KEY_MARKER must.*\n {2}TRUST_PROXY must.*\n {2}DATABASE_URL is not set.*\n$/
      )
    }
  )
  t.notOk(existsSync(DATA_DIR))
})
