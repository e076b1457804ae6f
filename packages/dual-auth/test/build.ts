import { createHook } from 'node:async_hooks'
import Fastify, { type FastifyInstance, type FastifySchema, type FastifyServerOptions } from 'fastify'
import dualAuth, {
  memoryStore,
  type ApiKeyOptions,
  type ApiKeyStore,
  type DualAuthOptions,
  type JwtOptions
} from '../src/index.ts'
import management, { type ManagementOptions } from '../src/management/index.ts'
import scanning, { type ScanningOptions } from '../src/scanning/index.ts'
import { startIssuer, type Issuer } from './issuer.ts'

export const PEPPER = { id: 'p1', secret: 'a pepper of at least thirty-two bytes' }
export const OWNER = '8b5c0d3a-6f0e-4c55-9a55-0f3a3f6c1a01'
export const OTHER_OWNER = '1d1f7a0e-0c43-4d2e-8f0b-7a1f3d0e2b02'

/** Where keys are managed, if a test does not say. */
const PATH = '/owners/:owner_id/api-keys'

type Management = Omit<ManagementOptions, 'path'> & Partial<Pick<ManagementOptions, 'path'>>

/** The options of the plugin, and of those that are built on it. */
export interface Options extends DualAuthOptions {
  /** Undefined: there are no such routes. */
  readonly management?: Management | readonly Management[] | undefined
  readonly scanning?: ScanningOptions
}

/** Registers the plugin, and then what is built on it. */
export async function authenticate (
  app: FastifyInstance,
  { management: sets = [], scanning: reports, ...options }: Options
): Promise<void> {
  await app.register(dualAuth, options)
  for (const set of [sets].flat() as readonly Management[]) await app.register(management, { path: PATH, ...set })
  if (reports !== undefined) await app.register(scanning, reports)
}

interface Teardown {
  teardown(done: () => unknown): void
}

export interface Settings {
  readonly issuer?: Issuer
  readonly store?: ApiKeyStore
  readonly apiKeys?: Partial<ApiKeyOptions>
  readonly jwt?: Partial<JwtOptions>
  readonly auth?: Partial<Options>
  readonly server?: FastifyServerOptions
  /** What the host does before it registers the plugin. */
  readonly host?: (app: FastifyInstance) => void
  /** Registers routes of the test's own. */
  readonly routes?: (app: FastifyInstance) => void
}

export interface Harness {
  readonly app: FastifyInstance
  readonly issuer: Issuer
  /** Makes a key over the management route. */
  mint(owner?: string, body?: Record<string, unknown>): Promise<{ id: string, prefix: string, plaintext: string }>
}

/** A server with one route of each policy and the management routes; closed at teardown. */
export async function build (t: Teardown, settings: Settings = {}): Promise<Harness> {
  const issuer = settings.issuer ?? await startIssuer()
  if (settings.issuer === undefined) t.teardown(() => issuer.stop().catch(() => {}))
  const app = Fastify({ exposeHeadRoutes: true, ...settings.server })
  t.teardown(() => app.close())
  settings.host?.(app)

  await authenticate(app, {
    apiKeys: {
      marker: 'shop_test',
      peppers: [PEPPER],
      store: settings.store ?? memoryStore(),
      ownerIdFromParam: (id) => id,
      logN: 4,
      ...settings.apiKeys
    },
    jwt: {
      issuer: issuer.url,
      userClients: ['web-app', 'mcp-app'],
      machineScopes: ['shop/api'],
      audience: ['https://shop.test/mcp'],
      ...settings.jwt
    },
    policy: (route) => {
      if (route.url === '/mcp') return 'any-key'
      return route.url.startsWith('/owners/:owner_id/products') ? 'dual' : undefined
    },
    scopes: (route) =>
      route.url === '/mcp'
        ? null
        : [route.method === 'GET' || route.method === 'HEAD' ? 'read' : 'write', ...operationOf(route.schema)],
    management: {
      canManage: (request, owner) => request.identity?.kind === 'user' && (owner === OWNER || owner === OTHER_OWNER)
    },
    ...settings.auth
  })
  app.get('/owners/:owner_id/products', async (request) => request.identity)
  app.post('/owners/:owner_id/products', async (request) => request.identity)
  app.put('/owners/:owner_id/products', { schema: named('replace_products') }, async (request) => request.identity)
  app.delete('/owners/:owner_id/products', async (request) => request.identity)
  app.post('/mcp', async (request) => request.identity)
  app.get('/orders', async (request) => request.identity)
  app.get('/health', { config: { auth: 'public' } }, async (request) => ({ identity: request.identity }))
  settings.routes?.(app)
  await app.ready()

  return {
    app,
    issuer,
    async mint (owner = OWNER, body = { name: 'test' }) {
      const response = await app.inject({
        method: 'POST',
        url: `/owners/${owner}/api-keys/`,
        headers: bearer(issuer.user()),
        payload: body
      })
      return response.json()
    }
  }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
export const products = (owner = OWNER) => `/owners/${owner}/products`

/** The one body that every bad credential gets. */
export const REFUSED = {
  statusCode: 401,
  code: 'DUAL_AUTH_CREDENTIAL_INVALID',
  error: 'Unauthorized',
  message: 'The credentials are not valid'
}
export const MISSING = {
  statusCode: 401,
  code: 'DUAL_AUTH_CREDENTIAL_MISSING',
  error: 'Unauthorized',
  message: 'Credentials are required'
}

/** Runs the work at another time of the clock, in milliseconds since the epoch. */
export async function at<T> (time: number, work: () => Promise<T>): Promise<T> {
  const now = Date.now
  Date.now = () => time
  try {
    return await work()
  } finally {
    Date.now = now
  }
}

/** Counts the runs of scrypt in this process, as Node itself sees them. */
export function countScrypt (): { readonly runs: number, stop(): void } {
  let runs = 0
  const hook = createHook({
    init (_id, type) {
      if (type === 'SCRYPTREQUEST') runs++
    }
  }).enable()
  return {
    get runs () {
      return runs
    },
    stop: () => {
      hook.disable()
    }
  }
}

export const named = (operationId: string): FastifySchema => Object.assign<FastifySchema, object>({}, { operationId })
const operationOf = (schema: unknown) =>
  typeof schema === 'object' && schema !== null && 'operationId' in schema ? [String(schema.operationId)] : []
