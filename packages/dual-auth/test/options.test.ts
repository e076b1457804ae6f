import t from 'tap'
import Fastify from 'fastify'
import dualAuth, { memoryStore, type DualAuthOptions } from '../src/index.ts'
import { PEPPER } from './build.ts'

const apiKeys = { marker: 'shop_test', peppers: [PEPPER], store: memoryStore() }
const jwt = { issuer: 'http://127.0.0.1:9/pool', userClients: ['web'], jwksTimeout: 100 }

async function boot (options: DualAuthOptions): Promise<void> {
  const app = Fastify()
  try {
    await app.register(dualAuth, options)
    await app.ready()
  } finally {
    await app.close()
  }
}

const MARKER = 'dual-auth: apiKeys.marker must be lower-case words joined by _, at most 16 characters, and must not start like a JWT (ey)'
const wrong: Array<[Partial<DualAuthOptions>, string]> = [
  ...['', 'Shop', 'shop__test', '_shop', 'shop_', '1shop', 'shop-test', 'eyshop', 'a'.repeat(17)].map((marker): [Partial<DualAuthOptions>, string] => [{ apiKeys: { ...apiKeys, marker } }, MARKER]),
  [{ apiKeys: { ...apiKeys, peppers: [] } }, 'dual-auth: apiKeys.peppers must hold at least one pepper'],
  [{ apiKeys: { ...apiKeys, peppers: [{ id: 'p', secret: 'x'.repeat(31) }] } }, "dual-auth: apiKeys.peppers: the secret of 'p' must have at least 32 bytes"],
  [{ apiKeys: { ...apiKeys, peppers: [PEPPER, PEPPER] } }, 'dual-auth: apiKeys.peppers must have different ids'],
  [{ apiKeys: { ...apiKeys, peppers: [{ ...PEPPER, id: '' }] } }, 'dual-auth: apiKeys.peppers must each have an id'],
  [{ apiKeys: { ...apiKeys, logN: 0 } }, 'dual-auth: apiKeys.logN must be a whole number, at least 1'],
  [{ apiKeys: { ...apiKeys, logN: 16 } }, 'dual-auth: apiKeys.logN must be at most 15'],
  [{ apiKeys: { ...apiKeys, logN: 7.5 } }, 'dual-auth: apiKeys.logN must be a whole number, at least 1'],
  [{ apiKeys: { ...apiKeys, headerName: 'Authorization' } }, 'dual-auth: apiKeys.headerName must be the name of a header other than Authorization'],
  [{ apiKeys: { ...apiKeys, headerName: 'x api key' } }, 'dual-auth: apiKeys.headerName must be the name of a header other than Authorization'],
  [{ apiKeys: { ...apiKeys, maxPerShop: 0 } }, 'dual-auth: apiKeys.maxPerShop must be a whole number, at least 1'],
  [{ apiKeys: { ...apiKeys, concurrency: 0 } }, 'dual-auth: apiKeys.concurrency must be a whole number, at least 1'],
  [{ apiKeys: { ...apiKeys, queueLength: -1 } }, 'dual-auth: apiKeys.queueLength must be a whole number, at least 0'],
  [{ apiKeys: { ...apiKeys, storeTimeout: Infinity } }, 'dual-auth: apiKeys.storeTimeout must be a whole number, at least 1'],
  [{ jwt: { ...jwt, issuer: 'pool' } }, 'dual-auth: jwt.issuer must be an https URL, or http on loopback'],
  [{ jwt: { ...jwt, jwksUri: '/jwks' } }, 'dual-auth: jwt.jwksUri must be an https URL, or http on loopback'],
  [{ jwt: { ...jwt, issuer: 'http://idp.example.com' } }, 'dual-auth: jwt.issuer must be an https URL, or http on loopback'],
  [{ jwt: { ...jwt, userClients: [''] } }, 'dual-auth: jwt.userClients must be a list of client ids'],
  [{ jwt: { ...jwt, userClients: 'web' as never } }, 'dual-auth: jwt.userClients must be a list of client ids'],
  [{ jwt: { ...jwt, machineScopes: 'billing/api' as never } }, 'dual-auth: jwt.machineScopes must be a list of texts'],
  [{ jwt: { ...jwt, audience: 'https://api.example.com' as never } }, 'dual-auth: jwt.audience must be a list of texts'],
  [{ jwt: { ...jwt, jwksRefresh: 2 ** 31 } }, 'dual-auth: jwt.jwksRefresh must be less than 2^31 milliseconds'],
  [{ jwt: { ...jwt, algorithms: [] } }, 'dual-auth: jwt.algorithms must be asymmetric signature algorithms'],
  [{ jwt: { ...jwt, algorithms: ['HS256' as never] } }, 'dual-auth: jwt.algorithms must be asymmetric signature algorithms'],
  [{ jwt: { ...jwt, algorithms: ['RS256', 'none' as never] } }, 'dual-auth: jwt.algorithms must be asymmetric signature algorithms'],
  [{ jwt: { ...jwt, clockTolerance: 61 } }, 'dual-auth: jwt.clockTolerance must be at most 60 seconds'],
  [{ jwt: { ...jwt, jwksCooldown: 0 } }, 'dual-auth: jwt.jwksCooldown must be a whole number, at least 1'],
  [{ challenge: { resourceMetadata: '/metadata' } }, 'dual-auth: challenge.resourceMetadata must be an absolute URL in ASCII'],
  [{ challenge: { resourceMetadata: 'https://shop.test/"' } }, 'dual-auth: challenge.resourceMetadata must be an absolute URL in ASCII'],
  [{ challenge: { scope: 'a\nb' } }, 'dual-auth: challenge.scope must be scopes separated by spaces'],
  [{ management: { canManage: () => true, path: '/keys' } }, 'dual-auth: management.path must hold :shop_id']
]

for (const [options, message] of wrong) {
  t.test(`${JSON.stringify(options)} fails the boot`, async t => {
    await t.rejects(boot({ apiKeys, jwt, ...options }), { code: 'DUAL_AUTH_OPTION_INVALID', message })
  })
}

t.test('the least that is needed boots, even with the provider out of reach', async t => {
  await t.resolves(boot({ apiKeys, jwt }))
})
