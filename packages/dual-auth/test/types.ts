// Compiled, not run: what the types promise.
import Fastify, { type ApiKeyOwner, type FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import management from '../src/management/index.ts'
import dualAuth, {
  memoryStore,
  scopesFromRoute,
  type ApiKeyIdentity,
  type ApiKeyRecord,
  type ApiKeyStore,
  type AuthPolicy,
  type AuthRoute,
  type DualAuthOptions,
  type Identity
} from '../src/index.ts'
import { createApiKeysTable, knexStore, type TableOptions } from '../src/keys/knex.ts'

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same = <T extends true>(value?: T) => value

same<Equals<FastifyRequest['identity'], Identity | null>>()
same<Equals<Identity['kind'], 'api-key' | 'machine' | 'user'>>()
same<Equals<AuthPolicy, 'jwt' | 'dual' | 'any-key' | 'public'>>()
same<Equals<ReturnType<typeof memoryStore>, ApiKeyStore>>()
same<Equals<ReturnType<typeof knexStore>, ApiKeyStore>>()
same<Equals<NonNullable<ApiKeyIdentity['owner']>, ApiKeyOwner>>()
same<Equals<Parameters<typeof createApiKeysTable>, [knex: Knex, options?: TableOptions]>>()

export function describe (identity: Identity): string {
  switch (identity.kind) {
    case 'api-key':
      return `${identity.keyId} of ${identity.ownerId}`
    case 'machine':
      return identity.clientId
    case 'user':
      return identity.username ?? identity.subject
    default:
      return identity satisfies never
  }
}

export function change (identity: Identity): void {
  // @ts-expect-error an identity is read-only
  identity.kind = 'user'
  // @ts-expect-error so are its scopes
  identity.scopes.push('write')
  // @ts-expect-error only an API key has an owner
  identity.ownerId.trim()
  // @ts-expect-error a store need not return it
  if (identity.kind === 'api-key') Object.keys(identity.owner)
}

const options: DualAuthOptions = {
  apiKeys: { marker: 'm', peppers: [{ id: 'p', secret: Buffer.alloc(32) }], store: memoryStore() },
  jwt: { issuer: 'https://issuer.test', userClients: ['app'] }
}
const app = Fastify()
app.register(dualAuth, options)
app.register(dualAuth, {
  ...options,
  policy: (route) => route.url === '/mcp' ? 'dual' : undefined,
  scopes: (route) => route.method === 'GET' ? ['read'] : null
})
app.register(dualAuth, {
  ...options,
  policy: (route) => route.schema?.tags?.includes('mcp') ? 'dual' : undefined,
  scopes: (route) => [route.schema?.operationId ?? 'none']
})
same<Equals<NonNullable<AuthRoute['schema']>['tags'], readonly string[] | undefined>>()
app.register(dualAuth, { ...options, tokenScopes: (route) => route.method === 'GET' ? null : ['catalog/write'] })
app.addHook('onRoute', (route) => {
  scopesFromRoute(route)
})
app.addHook('onRequest', async (request) => {
  same<Equals<ReturnType<typeof request.mayCall>, boolean>>()
  request.mayCall({ method: 'GET', url: '/x', config: { auth: 'dual' } })
})
app.get('/', { config: { auth: 'public' } }, async (request) => request.identity?.kind)
// @ts-expect-error no such policy
app.get('/x', { config: { auth: 'publik' } }, async () => '')
// @ts-expect-error symmetric algorithms are not for tokens of somebody else
app.register(dualAuth, { ...options, jwt: { ...options.jwt, algorithms: ['HS256'] } })
// @ts-expect-error who may manage keys must be said
app.register(management, { path: '/teams/:team/api-keys' })
// @ts-expect-error it is made by introspection()
app.register(dualAuth, { ...options, jwt: { ...options.jwt, introspection: { clientId: 'a', clientSecret: 'b' } } })
// @ts-expect-error peppers have ids
app.register(dualAuth, { ...options, apiKeys: { ...options.apiKeys, peppers: ['secret'] } })

app.register(dualAuth, {
  ...options,
  onKeyEvent: async (event) => {
    if (event.type === 'rotated') same<Equals<typeof event.replaced, ApiKeyRecord>>()
    if (event.type === 'refused') {
      same<Equals<typeof event.key, { readonly id: string, readonly ownerId: string } | null>>()
    }
    // @ts-expect-error a refused key has no name: only its id is known
    if (event.type === 'refused') event.key?.name.trim()
  }
})
app.register(management, {
  path: '/teams/:team/api-keys',
  canManage: () => true,
  onKeyChange: (change) => {
    switch (change.action) {
      case 'create':
      case 'revoke':
        change.key.id.trim()
        break
      case 'rotate':
        change.replaced.id.trim()
        break
      default:
        change satisfies never
    }
  }
})
