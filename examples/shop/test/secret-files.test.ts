import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../src/database/index.ts'
import { SECRET_SETTINGS } from '../src/settings/files.ts'
import { databaseSettings, settings, settingsFromEnvironment } from '../src/settings/settings.ts'

const SECRET = 'Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL'
const LIST = `2026-11:${SECRET}`
const good = {
  IDP_ISSUER: 'https://idp.example.com/pool',
  API_KEY_PEPPERS: LIST,
  PAY_KEY_SECRETS: `2026-11:${SECRET}x`
}

/** A value of each, and the settings that it needs. */
const values: Readonly<
  Record<typeof SECRET_SETTINGS[number], readonly [value: string, read: unknown, needed?: Record<string, string>]>
> = {
  API_KEY_PEPPERS: [LIST, [LIST]],
  PAY_KEY_SECRETS: [`b:${SECRET}, a:${SECRET}`, [`b:${SECRET}`, `a:${SECRET}`]],
  OAUTH_BROKER_SECRETS: [LIST, [LIST], { OAUTH_BROKER: 'true', IDP_MCP_CLIENT_ID: 'mcp' }],
  OAUTH_BROKER_ASSERTION_KEYS: [LIST, [LIST], {
    OAUTH_BROKER: 'true',
    IDP_MCP_CLIENT_ID: 'mcp',
    OAUTH_BROKER_SECRETS: LIST,
    OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example'
  }],
  OAUTH_BROKER_ASSERTION_CLIENTS: [LIST, [LIST], {
    OAUTH_BROKER: 'true',
    IDP_MCP_CLIENT_ID: 'mcp',
    OAUTH_BROKER_SECRETS: LIST,
    OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example',
    OAUTH_BROKER_ASSERTION_KEYS: LIST
  }],
  METRICS_TOKEN: ['a-token-of-16-characters', ['a-token-of-16-characters']],
  IDP_MCP_CLIENT_SECRET: [SECRET, SECRET, {
    OAUTH_BROKER: 'true',
    IDP_MCP_CLIENT_ID: 'mcp',
    OAUTH_BROKER_SECRETS: LIST
  }],
  IDP_INTROSPECTION_CLIENT_SECRET: [SECRET, SECRET, { IDP_INTROSPECTION_CLIENT_ID: 'shop', IDP_PROVIDER: 'keycloak' }],
  DATABASE_URL: ['postgres://shop:x@db/shop', 'postgres://shop:x@db/shop'],
  DATABASE_READ_URL: ['postgres://shop:x@standby/shop', 'postgres://shop:x@standby/shop', {
    DATABASE_URL: 'postgres://shop@db/shop'
  }],
  PGPASSWORD: ['p/w+d=@:?#%&x', 'p/w+d=@:?#%&x'],
  REDIS_URL: ['redis://:x@redis:6379', 'redis://:x@redis:6379']
}

const said = (environment: NodeJS.ProcessEnv): readonly string[] => {
  try {
    settingsFromEnvironment(environment)
    return []
  } catch (error) {
    return (error as Error).message.split('\n').slice(1).map((line) => line.trim())
  }
}

t.test('each setting that is a secret by its name can come from a file', async (t) => {
  const secrets = Object.keys(settings).filter((name) => /(SECRETS?|PEPPERS|KEYS|TOKENS?|PASSWORD)$/.test(name))
  t.ok(secrets.length > 6)
  // It says which tokens are accepted.
  const others = secrets.filter((name) => name !== 'IDP_SESSION_TOKENS')
  t.strictSame(others.filter((name) => !(SECRET_SETTINGS as readonly string[]).includes(name)), [])
})

for (const name of SECRET_SETTINGS) {
  t.test(`${name} can come from a file`, async (t) => {
    const [value, read, needed = {}] = values[name]
    const { [name]: _, ...rest } = { ...good, ...needed } as Record<string, string>
    const file = join(t.testdir(), 'secret')
    for (const end of ['', '\n', '\r\n']) {
      writeFileSync(file, `${value}${end}`)
      t.strictSame(settingsFromEnvironment({ ...rest, [`${name}_FILE`]: file })[name], read, JSON.stringify(end))
    }
    t.strictSame(
      settingsFromEnvironment({ ...rest, [name]: value, [`${name}_FILE`]: '' })[name],
      read,
      'an empty name of a file is none'
    )
    t.strictSame(said({ ...rest, [name]: value, [`${name}_FILE`]: file }), [
      `${name} and ${name}_FILE are both set: remove one of them`
    ])
    t.strictSame(said({ ...rest, [`${name}_FILE`]: `${file}s` }), [
      `${name}_FILE cannot be read: ENOENT: no such file or directory, open '${file}s'`
    ])
    for (const empty of ['', '\n']) {
      writeFileSync(file, empty)
      t.strictSame(said({ ...rest, [`${name}_FILE`]: file }), [`${name}_FILE is an empty file: ${file}`])
    }
  })
}

t.test('what a file holds is checked like a variable, and quoted nowhere', async (t) => {
  const file = join(t.testdir({ secret: `short:${SECRET.slice(0, 9)}\n` }), 'secret')
  const { API_KEY_PEPPERS: _, ...rest } = good
  const [mistake = '', ...others] = said({ ...rest, API_KEY_PEPPERS_FILE: file })
  t.match(
    mistake,
    /^API_KEY_PEPPERS has the wrong format\. .* For example: API_KEY_PEPPERS=2026-11:\$\(openssl rand -base64 32\)$/
  )
  t.notMatch(mistake, SECRET.slice(0, 9))
  t.strictSame(others, [])
})

t.test('a secret without its id shows the form that it needs', async (t) => {
  for (
    const name of [
      'API_KEY_PEPPERS',
      'PAY_KEY_SECRETS',
      'OAUTH_BROKER_SECRETS',
      'OAUTH_BROKER_ASSERTION_KEYS',
      'OAUTH_BROKER_ASSERTION_CLIENTS'
    ] as const
  ) {
    const mistakes = said({ ...good, [name]: `${SECRET}${SECRET}` })
    t.match(mistakes.filter((mistake) => mistake.startsWith(name)), [
      new RegExp(
        `^${name} has the wrong format\\. Expected: .* as id:secret, .* For example: ` +
          `${name}=2026-11:\\$\\(openssl rand -base64 32\\)$`
      )
    ])
    t.notMatch(mistakes.join(), SECRET)
  }
  for (const name of ['API_KEY_PEPPERS', 'PAY_KEY_SECRETS'] as const) {
    t.strictSame(said({ ...good, [name]: `2026.11:${SECRET}y` }), [
      `${name} must have ids of 1 to 32 letters, digits, - or _`
    ])
  }
})

t.test('a command reads the files of its own settings only', async (t) => {
  const dir = t.testdir({ url: 'postgres://shop@db/shop\n' })
  t.match(databaseSettings({ DATABASE_URL_FILE: join(dir, 'url'), API_KEY_PEPPERS_FILE: '/nowhere' }), {
    DATABASE_URL: 'postgres://shop@db/shop'
  })
})

t.test('the password of a file reaches the database, whatever its characters', async (t) => {
  const password = values.PGPASSWORD[0]
  for (
    const [url, expected] of [
      ['postgres://shop@127.0.0.1:1/shop', password],
      ['postgres://127.0.0.1:1/shop?user=a@b:c', password],
      ['postgres://shop:@127.0.0.1:1/shop?application_name=x', password],
      ['postgres://shop:own@127.0.0.1:1/shop', 'own'],
      ['postgres://shop@127.0.0.1:1/shop?password=own', 'own']
    ] as const
  ) {
    const database = await openDatabase({ DATABASE_URL: url, PGPASSWORD: password, DATA_DIR: '/nowhere' })
    const { driver, connectionSettings } = database.knex.client
    t.equal(new driver.Client(connectionSettings).password, expected, url)
    await database.close()
  }
})
