import t from 'tap'
import { createApiKey, memoryStore, type KeyRequest } from '../src/index.ts'
import { build, PEPPER, SHOP } from './build.ts'

t.test('createApiKey makes a key that the plugin accepts, and tells of it', async t => {
  const store = memoryStore()
  const { app } = await build(t, { auth: { apiKeys: { marker: 'shop_test', peppers: [PEPPER], store } } })
  const told: unknown[] = []
  const { key, plaintext } = await createApiKey({ marker: 'shop_test', peppers: [PEPPER], store }, { shopId: SHOP, name: 'Printer', scopes: ['read'], createdBy: 'command' }, async record => { told.push(record) })
  t.match(key, { shopId: SHOP, name: 'Printer', scopes: ['read'], expiresAt: null, revokedAt: null })
  t.match(plaintext, new RegExp(`^shop_test_${key.prefix}_[0-9A-Za-z]{49}$`))
  t.strictSame(told, [key])
  const call = async (method: 'GET' | 'POST') => (await app.inject({ method, url: `/shops/${SHOP}/products`, headers: { 'x-api-key': plaintext } })).statusCode
  t.strictSame([await call('GET'), await call('POST')], [200, 403])
})

t.test('createApiKey refuses what the management routes refuse, and stores nothing', async t => {
  const store = memoryStore()
  const request: KeyRequest = { shopId: SHOP, name: 'Printer', createdBy: 'command' }
  const options = { marker: 'shop_test', peppers: [PEPPER], store, maxPerShop: 1 }
  for (const [wrong, code] of [
    [{ name: '' }, 'DUAL_AUTH_INVALID_OPTION'],
    [{ name: 'x'.repeat(101) }, 'DUAL_AUTH_INVALID_OPTION'],
    [{ name: 'a\nb' }, 'DUAL_AUTH_INVALID_OPTION'],
    [{ shopId: '' }, 'DUAL_AUTH_INVALID_OPTION'],
    [{ createdBy: '' }, 'DUAL_AUTH_INVALID_OPTION'],
    [{ scopes: ['read', 'read'] }, 'DUAL_AUTH_INVALID_OPTION'],
    [{ scopes: ['a b'] }, 'DUAL_AUTH_INVALID_OPTION'],
    [{ expiresAt: new Date(0) }, 'DUAL_AUTH_EXPIRY_PAST'],
    [{ expiresAt: new Date(NaN) }, 'DUAL_AUTH_EXPIRY_PAST']
  ] as const) await t.rejects(createApiKey(options, { ...request, ...wrong }), { code }, JSON.stringify(wrong))
  await t.rejects(createApiKey({ ...options, marker: 'Wrong' }, request), { code: 'DUAL_AUTH_INVALID_OPTION' })
  await createApiKey(options, request)
  await t.rejects(createApiKey(options, request), { code: 'DUAL_AUTH_KEY_LIMIT' })
})
