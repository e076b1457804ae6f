import t from 'tap'
import { createApiKey, memoryStore, type KeyRequest } from '../src/index.ts'
import { build, PEPPER, OWNER } from './build.ts'

t.test('createApiKey makes a key that the plugin accepts, and tells of it', async (t) => {
  const store = memoryStore()
  const { app } = await build(t, {
    auth: { apiKeys: { marker: 'shop_test', peppers: [PEPPER], store, ownerIdFromParam: 'uuid' } }
  })
  const told: unknown[] = []
  const { key, plaintext } = await createApiKey({ marker: 'shop_test', peppers: [PEPPER], store }, {
    ownerId: OWNER,
    name: 'Printer',
    scopes: ['read'],
    createdBy: 'command'
  }, async (record) => {
    told.push(record)
  })
  t.match(key, { ownerId: OWNER, name: 'Printer', scopes: ['read'], expiresAt: null, revokedAt: null })
  t.match(plaintext, new RegExp(`^shop_test_${key.prefix}_[0-9A-Za-z]{49}$`))
  t.strictSame(told, [key])
  const call = async (method: 'GET' | 'POST') =>
    (await app.inject({ method, url: `/owners/${OWNER}/products`, headers: { 'x-api-key': plaintext } })).statusCode
  t.strictSame([await call('GET'), await call('POST')], [200, 403])
})

t.test('createApiKey refuses what the management routes refuse, and stores nothing', async (t) => {
  const store = memoryStore()
  const request: KeyRequest = { ownerId: OWNER, name: 'Printer', scopes: 'all', createdBy: 'command' }
  const options = { marker: 'shop_test', peppers: [PEPPER], store, maxPerOwner: 1 }
  const NAME = 'createApiKey.name must be 1 to 100 characters without control characters and lone surrogates'
  const SCOPES =
    "createApiKey.scopes must be 'all', or an array of 1 to 64 different names of letters, digits and _.:/-"
  for (
    const [wrong, message] of [
      [{ name: '' }, NAME],
      [{ name: 'x'.repeat(101) }, NAME],
      [{ name: 'a\nb' }, NAME],
      [{ name: 'half of \ud83d' }, NAME],
      [{ ownerId: '' }, 'createApiKey.ownerId must be a non-empty string'],
      [{ createdBy: '' }, 'createApiKey.createdBy must be a non-empty string'],
      // Ignored, they would make a key that opens everything, or works for ever.
      [{ scope: ['read'] }, 'createApiKey.scope is not an option. Did you mean scopes?'],
      [{ expires_at: '2099-01-01' }, 'createApiKey.expires_at is not an option. Did you mean expiresAt?'],
      [{ expiresAt: '2099-01-01' as never }, 'createApiKey.expiresAt must be a Date, or null'],
      [{ scopes: null as never }, SCOPES],
      [{ scopes: undefined as never }, SCOPES],
      [{ scopes: [] }, SCOPES],
      [{ scopes: ['all'] }, SCOPES],
      [{ scopes: 'read' as never }, SCOPES],
      [{ scopes: '' as never }, SCOPES],
      [{ scopes: ['read', 'read'] }, SCOPES],
      [{ scopes: ['a b'] }, SCOPES],
      [{ scopes: [''] }, SCOPES],
      [{ scopes: ['x'.repeat(65)] }, SCOPES],
      [{ scopes: Array.from({ length: 65 }, (_, i) => `s${i}`) }, SCOPES]
    ] as const
  ) {
    await t.rejects(createApiKey(options, { ...request, ...wrong }), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: new RegExp(`^dual-auth: ${message.replace(/[.?]/g, '\\$&')}(?: \\(got .*\\))?$`, 's')
    }, JSON.stringify(wrong))
  }
  for (const expiresAt of [new Date(0), new Date(NaN)]) {
    await t.rejects(createApiKey(options, { ...request, expiresAt }), { code: 'DUAL_AUTH_EXPIRY_PAST' })
  }
  await t.rejects(createApiKey({ ...options, marker: 'Wrong' }, request), { code: 'DUAL_AUTH_INVALID_OPTION' })
  t.strictSame((await createApiKey(options, request)).key.scopes, [])
  await t.rejects(createApiKey(options, request), { code: 'DUAL_AUTH_KEY_LIMIT' })
})
