import t from 'tap'
import { readFileSync } from 'node:fs'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance } from 'fastify'
import dualAuth, { memoryStore, type DualAuthOptions } from '../src/index.ts'
import { bearer, PEPPER } from './build.ts'
import { startIssuer } from './issuer.ts'

const page = readFileSync(new URL('../docs/policies.md', import.meta.url), 'utf8')
const program = /```js\n(await app\.register\(rateLimit[^]*?)```/.exec(page)?.[1] ?? ''

t.test('with a rate limit as the documentation has it, bad keys and good tokens are counted alike', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const app = Fastify()
  t.teardown(() => app.close())
  const source = `export default async (app, rateLimit, dualAuth, options) => {\n${program}}`
  const { default: register } = await import(`data:text/javascript,${encodeURIComponent(source)}`) as {
    default: (
      app: FastifyInstance,
      rate: typeof rateLimit,
      auth: typeof dualAuth,
      options: DualAuthOptions
    ) => Promise<void>
  }
  await register(app, rateLimit, dualAuth, {
    apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore() },
    jwt: { issuer: issuer.url, userClients: ['web-app'] }
  })
  app.post('/session', { config: { auth: 'public', rateLimit: { max: 2, timeWindow: '1 minute' } } }, async () => '')
  app.get('/products', { config: { auth: 'any-key' } }, async () => '')
  await app.ready()

  // However busy the machine is, the minute of the limit does not end before the test.
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
  const signIn = async () =>
    (await app.inject({ method: 'POST', url: '/session', remoteAddress: '192.0.2.1' })).statusCode
  t.strictSame([await signIn(), await signIn(), await signIn()], [200, 200, 429], 'limits of routes count beside it')
  const status = async (headers: Record<string, string>) => (await app.inject({ url: '/products', headers })).statusCode
  t.equal(await status(bearer(issuer.user())), 200)
  for (let call = 2; call <= 100; call++) t.equal(await status({ 'x-api-key': `m_bad-${call}` }), 401)
  for (const headers of [{ 'x-api-key': 'm_bad' }, bearer('m_bad'), {}, bearer(issuer.user())]) {
    t.equal(await status(headers), 429)
  }
  t.match((await app.inject('/products')).headers['retry-after'], /^\d+$/)
})
