import { randomBytes } from 'node:crypto'
import t from 'tap'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { RISKS, risksIn } from '../src/settings/risks.ts'
import { lastingData, start } from './process.ts'
import { joined } from '../../../test/joined.ts'

const SECRET = 'Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL'
const good = {
  DATABASE_URL: 'postgres://shop@db/shop',
  PUBLIC_BASE_URL: 'https://shop.example.com',
  IDP_ISSUER: 'https://idp.example.com/pool',
  API_KEY_PEPPERS: `2026:${SECRET}`,
  PAY_KEY_SECRETS: `2026:${SECRET}x`,
  IDP_M2M_CLIENT_IDS: 'erp'
}

const config = (environment: NodeJS.ProcessEnv) => settingsFromEnvironment(environment, {}, risksIn)

t.test('settings of a production server are accepted', async (t) => {
  t.match(config(good), { DATABASE_URL: good.DATABASE_URL, ALLOW_INSECURE: [] })
})

const refused = [
  { name: 'DATABASE_URL', value: '', risk: 'embedded-database' },
  { name: 'PUBLIC_BASE_URL', value: 'http://shop.example.com', risk: 'http-base-url' },
  { name: 'PUBLIC_BASE_URL', value: 'HTTP://localhost:8080', risk: 'http-base-url', malformed: true },
  { name: 'PUBLIC_BASE_URL', value: '', risk: 'http-base-url' },
  { name: 'IDP_ISSUER', value: 'http://127.0.0.1:8081', risk: 'http-issuer' },
  { name: 'PAY_API_URL', value: 'https://pay.example.com', risk: 'pay-stand-in' },
  { name: 'API_KEY_PEPPERS', value: `demo:${SECRET}`, risk: 'weak-secrets' },
  { name: 'API_KEY_PEPPERS', value: `new:${SECRET},old:${'s'.repeat(32)}`, risk: 'weak-secrets' },
  { name: 'PAY_KEY_SECRETS', value: `2026:change-me-${SECRET}`, risk: 'weak-secrets' },
  { name: 'PAY_KEY_SECRETS', value: `2026:${'abcdefgh'.repeat(4)}`, risk: 'weak-secrets' },
  { name: 'PAY_KEY_SECRETS', value: `2026:${SECRET.slice(0, 8).repeat(4)}`, risk: 'weak-secrets' },
  { name: 'PAY_KEY_SECRETS', value: '2026-01:a-third-made-with-openssl-rand-base64-32', risk: 'weak-secrets' },
  { name: 'METRICS_TOKEN', value: 'metricsmetricsmetrics', risk: 'weak-secrets' },
  { name: 'METRICS_TOKEN', value: '0123456701234567012345670', risk: 'weak-secrets' },
  { name: 'METRICS_TOKEN', value: SECRET, risk: 'shared-secrets' },
  { name: 'PAY_KEY_SECRETS', value: `new:${SECRET}y,old:${SECRET}`, risk: 'shared-secrets' },
  { name: 'IDP_M2M_CLIENT_IDS', value: '', risk: 'any-machine-client' },
  { name: 'IDP_M2M_CLIENT_IDS', value: ' , ', risk: 'any-machine-client' },
  { name: 'PAY_ROUTES_PUBLIC', value: 'true', risk: 'public-pay-routes' }
]
for (const { name, value, risk, malformed } of refused) {
  t.test(`${name}=${value} is refused, and allowed by ${risk}`, async (t) => {
    t.throws(() => config({ ...good, [name]: value }), {
      code: 'SHOP_SETTINGS',
      message: new RegExp(`${name}.*To allow this, add ${risk} to ALLOW_INSECURE`)
    })
    if (malformed === true) return
    t.match(config({ ...good, [name]: value, ALLOW_INSECURE: risk }), { ALLOW_INSECURE: [risk] })
    t.throws(
      () => config({ ...good, [name]: value, ALLOW_INSECURE: RISKS.filter((other) => other !== risk).join(', ') }),
      { code: 'SHOP_SETTINGS' },
      'by no other'
    )
  })
}

t.test('random secrets of every usual form are accepted, and so is that no machine may call', async (t) => {
  for (let round = 0; round < 100; round++) {
    for (const [bytes, form] of [[32, 'base64'], [32, 'hex'], [24, 'base64url'], [16, 'hex']] as const) {
      const [one, two, three] = [0, 1, 2].map(() => randomBytes(bytes).toString(form))
      const risks = risksIn({ ...good, API_KEY_PEPPERS: `1:${one}`, PAY_KEY_SECRETS: `1:${two}`, METRICS_TOKEN: three })
      if (risks.length > 0) t.fail(`${one} ${two} ${three}: ${risks.join()}`)
    }
  }
  t.strictSame(risksIn({ ...good, METRICS_TOKEN: randomBytes(12).toString('base64'), IDP_M2M_CLIENT_IDS: 'none' }), [])
})

t.test('a message about a secret does not hold it', async (t) => {
  const secret = `change-me-${SECRET}`
  t.notMatch(risksIn({ ...good, API_KEY_PEPPERS: `2026:${secret}` }).join(), secret)
})

t.test('an unknown permission is a mistake', async (t) => {
  t.throws(() => config({ ...good, ALLOW_INSECURE: 'everything' }), {
    code: 'SHOP_SETTINGS',
    message: /ALLOW_INSECURE has the wrong format: .*\. Expected: .*: any-machine-client, embedded-database/
  })
})

t.test('the server tells all of it at once, beside the settings that cannot be read, and does not start', async (t) => {
  await t.rejects(
    start(t, 'server', {
      ...await lastingData(t),
      DATABASE_URL: '',
      PORT: 'http',
      PAY_API_URL: 'http://localhost:8082',
      IDP_ISSUER: 'http://localhost:8081',
      API_KEY_PEPPERS: `demo:${SECRET}`
    }),
    {
      message: joined(
        /^These settings cannot be used:\n {2}/,
        /(?=(.|\n)*PORT)(?=(.|\n)*PAY_KEY_SECRETS)(?=(.|\n)*DATABASE_URL)(?=(.|\n)*PUBLIC_BASE_URL)/,
        /(?=(.|\n)*IDP_ISSUER)(?=(.|\n)*PAY_API_URL)(?=(.|\n)*API_KEY_PEPPERS)/
      )
    }
  )
})
