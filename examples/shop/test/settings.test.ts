import { fileURLToPath } from 'node:url'
import t from 'tap'
import { settingsFromEnvironment, databaseSettings, seedSettings } from '../src/settings/settings.ts'
import { joined } from '../../../test/joined.ts'

const required = {
  IDP_ISSUER: 'https://idp.example.com/pool',
  API_KEY_PEPPERS: `2026:${'s'.repeat(32)}`,
  PAY_KEY_SECRETS: `2026:${'p'.repeat(32)}`
}

t.test('the defaults are those of the contract', async (t) => {
  t.match(settingsFromEnvironment(required), {
    MCP_ENABLED: false,
    PUBLIC_BASE_URL: 'http://localhost:8080',
    PORT: 8080,
    IDP_MCP_CLIENT_ID: '',
    PAY_ROUTES_PUBLIC: false,
    PAY_API_URL: undefined,
    DATABASE_URL: undefined
  })
})

t.test('texts become values, an empty text is no setting, other variables are none', async (t) => {
  t.match(settingsFromEnvironment({ ...required, MCP_ENABLED: 'true', PORT: '0', DATABASE_URL: '', PATH: '/bin' }), {
    MCP_ENABLED: true,
    PORT: 0,
    DATABASE_URL: undefined,
    PATH: undefined
  })
  t.match(settingsFromEnvironment({ ...required, MCP_ENABLED: 'false' }, { MCP_ENABLED: true, LOG_LEVEL: 'warn' }), {
    MCP_ENABLED: false,
    LOG_LEVEL: 'warn'
  })
})

t.test('lists are written with commas', async (t) => {
  t.match(
    settingsFromEnvironment({
      ...required,
      ADMIN_SUBJECTS: 'a, b,',
      API_KEY_PEPPERS: `2:${'n'.repeat(32)},1:${'o'.repeat(40)}`
    }),
    {
      ADMIN_SUBJECTS: ['a', 'b'],
      IDP_USER_CLIENT_IDS: [],
      API_KEY_PEPPERS: [`2:${'n'.repeat(32)}`, `1:${'o'.repeat(40)}`]
    }
  )
})

t.test('every mistake is told at once', async (t) => {
  t.throws(() =>
    settingsFromEnvironment({
      MCP_ENABLED: 'yes',
      PORT: 'http',
      PUBLIC_BASE_URL: 'example.com',
      API_KEY_PEPPERS: 'a:short',
      PAY_KEY_SECRETS: 'a:b',
      PAY_API_URL: 'pay',
      DATABASE_URL: 'mysql://x',
      LOG_LEVEL: 'loud'
    }), {
    code: 'SHOP_SETTINGS',
    message: joined(
      /IDP_ISSUER(.|\n)*PORT(.|\n)*PUBLIC_BASE_URL(.|\n)*/,
      /MCP_ENABLED must be true or false(.|\n)*API_KEY_PEPPERS(.|\n)*PAY_KEY_SECRETS/,
      /(.|\n)*PAY_API_URL(.|\n)*DATABASE_URL(.|\n)*LOG_LEVEL/
    )
  })
})

t.test('a mistake says what would be right, and no secret', async (t) => {
  const said = (environment: Record<string, string>): string => {
    try {
      settingsFromEnvironment({ ...required, ...environment })
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  t.match(
    said({ LOG_LEVEL: 'loud' }),
    /LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not loud$/
  )
  t.match(said({ CORS_ORIGINS: '*' }), /CORS_ORIGINS has the wrong format: \*\. Expected: Origins that may call/)
  t.match(
    said({ API_KEY_PEPPERS: 'hidden' }),
    joined(
      /API_KEY_PEPPERS has the wrong format\. Expected: /,
      /Secrets for .* at least 32 characters each\. For example: API_KEY_PEPPERS=/
    )
  )
  t.notMatch(said({ API_KEY_PEPPERS: 'hidden' }), /hidden/)
  t.match(said({ RATE_LIMIT_MAX: 'lots' }), /RATE_LIMIT_MAX must be an integer, not lots$/)
  t.match(said({ MCP_ENABLED: 'yes' }), /MCP_ENABLED must be true or false, not yes$/)
  t.match(
    said({ PUBLIC_BASE_URL: 'https://shop.example/shop' }),
    /PUBLIC_BASE_URL has the wrong format: https:\/\/shop\.example\/shop\. Expected: .* without a path/
  )
  t.notMatch(said({ PAY_API_URL: 'https://kim:hidden@pay.example/x' }), /hidden/)
})

t.test('the embedded database is at one place for the server and all commands', async (t) => {
  const top = fileURLToPath(new URL('../../../', import.meta.url))
  for (
    const [DATA_DIR, place] of [
      [undefined, `${top}.data`],
      ['trial', `${top}trial`],
      ['./a/../b', `${top}b`],
      ['/data', '/data']
    ] as const
  ) {
    const given = { ...required, ...DATA_DIR !== undefined && { DATA_DIR } }
    for (const read of [settingsFromEnvironment, databaseSettings, seedSettings]) {
      t.equal(read(given).DATA_DIR, place, `${read.name} of ${DATA_DIR}`)
    }
  }
})
