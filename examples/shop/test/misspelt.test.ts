import t from 'tap'
import { run } from '../src/commands/run.ts'
import { misspeltIn } from '../src/settings/misspelt.ts'
import { settings } from '../src/settings/settings.ts'
import { createDatabase, openIdentityProvider, openTestDatabase, TEST_DATABASE_URL } from './build.ts'
import { start } from './process.ts'
import { RISKS } from '../src/settings/risks.ts'

t.test('a variable that is near to a setting is named with what is meant', async (t) => {
  for (
    const [name, meant] of [
      ['RATE_LIMT_MAX', 'RATE_LIMIT_MAX'],
      ['RATE_LIMIT_MAXX', 'RATE_LIMIT_MAX'],
      ['RATE_LIMTI_MAX', 'RATE_LIMIT_MAX'],
      ['RATELIMIT_MAX', 'RATE_LIMIT_MAX'],
      ['rate_limit_max', 'RATE_LIMIT_MAX'],
      ['IDP_PROVDER', 'IDP_PROVIDER'],
      ['API_KEY_PEPPER', 'API_KEY_PEPPERS'],
      ['API_KEY_PEPPER_FILE', 'API_KEY_PEPPERS_FILE'],
      ['TRUSTPROXY', 'TRUST_PROXY']
    ] as const
  ) t.strictSame(misspeltIn({ [name]: 'x' }), [{ name, meant }])
  const others = {
    HOME: '/',
    PATH: '/bin',
    HOSTNAME: 'a',
    PGHOST: 'db',
    PGPASSFILE: 'x',
    PASSWORD: 'x',
    NODE_ENV: 'production',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x',
    SHOP_PORT: 'tcp://1',
    RATE_LIMIT: '5',
    SHOP_TOKEN: 'x',
    POSTGRES_PASSWORD: 'x'
  }
  t.strictSame(misspeltIn(others), [], 'others belong to other programs')
  t.strictSame(misspeltIn(Object.fromEntries(Object.keys(settings).map((name) => [name, '1']))), [])
  t.strictSame(misspeltIn({ REDIS_URI: 'x', REDIS_URL: 'x' }), [], 'a setting that is set is not misspelt')
})

t.test('the server and the doctor name it, and go on', async (t) => {
  const idp = await openIdentityProvider(t)
  const environment = {
    ...idp.settings,
    ALLOW_INSECURE: RISKS.join(','),
    DATA_DIR: t.testdir(),
    DATABASE_URL: TEST_DATABASE_URL === undefined ? '' : await createDatabase(t, TEST_DATABASE_URL),
    RATE_LIMT_MAX: '5'
  }
  const { output, stop } = await start(t, 'server', environment)
  t.match(output(), '"RATE_LIMT_MAX is no setting: RATE_LIMIT_MAX is probably meant"')
  await stop('SIGTERM')
  const database = await openTestDatabase(t)
  const { stdout } = await run(['doctor'], environment, async () => ({ ...database, close: async () => {} }))
  t.match(stdout, /^warn {2}settings +RATE_LIMT_MAX is no setting: RATE_LIMIT_MAX is probably meant$/m)
})
