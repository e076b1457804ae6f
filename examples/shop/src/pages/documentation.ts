import { createHash } from 'node:crypto'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  type RouteOptions
} from 'fastify'
import { MCP_PATH } from '../auth.ts'
import { Problem } from '../http/schemas.ts'
import { VERSION } from '../operations/version.ts'
import type { Settings } from '../settings/settings.ts'
import { signInRequest } from '../settings/sign-in-request.ts'
import { type Described, endpointSchema, forPeople, type SignIn, withSharedParts } from './openapi.ts'

/** The description of the API, for programs and for people. */
export const OPENAPI_PATH = '/openapi.json'
export const DOCS_PATH = '/docs'

const DESCRIPTION = `Catalogs, accounts, orders and payment keys of many shops.

Routes that are tagged \`mcp\` are also tools for agents, at \`/mcp\`; they take an API key of their shop or a token. \
All others take tokens only.
Money is in minor units of its currency: 1999 is 19.99 EUR, and 1999 JPY. Lists take \`skip\` and \`limit\` or \
\`range\`, \`filter\` and \`sort\`, and return \`Content-Range\`.`

/**
 * Serves the description of the routes that come after it: `/openapi.json`, and `/docs`, its pages. They are rarely
 * used and their libraries load slowly, so a separate app makes them at the first request. It has the same routes
 * without handlers.
 */
export async function documentation (app: FastifyInstance, { config }: { readonly config: Settings }): Promise<void> {
  const routes: RouteOptions[] = []
  let signIn: SignIn | undefined
  app.addHook('onRoute', (route) => {
    // The URL is read now, since Fastify reuses the object for the route with a trailing slash.
    const isEndpoint = route.url === MCP_PATH && route.method === 'POST'
    if (isEndpoint) routes.push(Object.assign(Object.create(route), { url: route.url, schema: endpointSchema }))
    else if (route.method !== 'HEAD' && route.schema?.hide !== true) {
      routes.push(Object.assign(Object.create(route), { url: route.url }))
    }
  })
  let docs: Promise<FastifyInstance> | undefined
  app.addHook('onClose', async () => await (await docs)?.close())

  /** Asked again until the identity provider's metadata was read. */
  const readSignIn = async (): Promise<SignIn | undefined> => {
    signIn ??= signInFrom((await app.inject('/.well-known/oauth-authorization-server')).json())
    return signIn
  }
  const described = async (url: string): Promise<Answer> => {
    docs ??= describingApp(routes, config, () => signIn)
    await readSignIn()
    const { statusCode, headers, rawPayload } = await (await docs).inject({ method: 'GET', url })
    // The outer response has its own length and connection headers.
    const { 'content-length': _length, connection: _connection, date: _date, 'transfer-encoding': _encoding, ...told } =
      headers
    return { statusCode, headers: { ...told, ...signInHeaders(url, told, signIn) }, payload: rawPayload }
  }
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { statusCode, headers, payload } = await described(request.url)
    if (statusCode === 404) return reply.callNotFound()
    return await reply.code(statusCode).headers(headers).send(payload)
  }
  const route = { config: { auth: 'public' }, schema: { hide: true } } as const
  for (const path of [OPENAPI_PATH, `${DOCS_PATH}/json`, `${DOCS_PATH}/yaml`]) {
    const document = kept(async () => await described(path))
    app.get(path, route, async ({ headers: { 'if-none-match': known = '' } }, reply) => {
      const { statusCode, headers, payload } = await document(await readSignIn())
      reply.headers(headers)
      // A weak comparison, as RFC 9110 asks for here.
      const isKnown = known.split(',').some((tag) => ['*', headers['etag']].includes(tag.trim().replace(/^W\//, '')))
      return isKnown ? await reply.code(304).send() : await reply.code(statusCode).send(payload)
    })
  }
  app.get(DOCS_PATH, route, answer)
  app.get(`${DOCS_PATH}/*`, route, answer)
}

interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  readonly payload: Buffer
}

/**
 * A document takes up to a tenth of a second to write, and anybody may ask for it: its bytes are kept.
 *
 * @returns gives the document; it is written again when it is called with another value, which the document depends on
 */
function kept (write: () => Promise<Answer>): (value: unknown) => Promise<Answer> {
  let last: { readonly value: unknown, readonly answer: Promise<Answer> } | undefined
  const tagged = async (): Promise<Answer> => {
    const { headers, payload, ...rest } = await write()
    return {
      ...rest,
      headers: { ...headers, etag: `"${createHash('sha256').update(payload).digest('base64url')}"` },
      payload
    }
  }
  return async (value) => {
    const current = last?.value === value && last !== undefined ? last : last = { value, answer: tagged() }
    try {
      return await current.answer
    } catch (error) {
      if (last === current) last = undefined
      throw error
    }
  }
}

/** @param metadata - of the identity provider (RFC 8414), or an error */
function signInFrom (
  { authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl }: Record<string, unknown>
): SignIn | undefined {
  return typeof authorizationUrl === 'string' && typeof tokenUrl === 'string'
    ? { authorizationUrl, tokenUrl }
    : undefined
}

/**
 * What the sign-in needs from a browser: the page requests the token from the identity provider, and the window of the
 * sign-in, which returns to `oauth2-redirect.html` from another origin, must know the window of the page.
 */
function signInHeaders (
  url: string,
  { 'content-security-policy': policy }: Record<string, unknown>,
  signIn: SignIn | undefined
): Record<string, string> {
  if (policy === undefined) return {}
  const token = signIn === undefined ? '' : ` ${new URL(signIn.tokenUrl).origin}`
  return {
    'content-security-policy': `${String(policy).replace(/;?$/, ';')} connect-src 'self'${token}`,
    'cross-origin-opener-policy': url.includes('oauth2-redirect') ? 'unsafe-none' : 'same-origin-allow-popups'
  }
}

async function describingApp (
  routes: readonly RouteOptions[],
  config: Settings,
  signIn: () => SignIn | undefined
): Promise<FastifyInstance> {
  const { PUBLIC_BASE_URL: publicBaseUrl, IDP_MCP_CLIENT_ID: clientId } = config
  const { scopes, parameters } = signInRequest(config)
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui')
  ])
  const docs = Fastify({ exposeHeadRoutes: false, routerOptions: { ignoreTrailingSlash: true } })
  // These routes get no requests; only their schemas are read.
  docs.setValidatorCompiler(() => () => true)
  docs.setSerializerCompiler(() => (value) => JSON.stringify(value))
  await docs.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Shop', version: VERSION, description: DESCRIPTION },
      servers: [{ url: new URL(publicBaseUrl).origin }],
      components: {
        securitySchemes: {
          api_key: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description: 'An API key of one shop; also taken as bearer token'
          },
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'An access token of the identity provider, of a person or a machine'
          }
        }
      }
    },
    transform: ({ schema, url, route }) => ({ url, schema: describedSchema(schema ?? {}, route) }),
    transformObject: (described) =>
      withSharedParts('openapiObject' in described ? described.openapiObject as Described : {})
  })
  await docs.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: true,
    // Without sources on other servers, and without an upgrade to https that the server may not have.
    transformStaticCSP: (policy) =>
      policy.replaceAll(/ (?:https:|validator\.swagger\.io|upgrade-insecure-requests;)/g, ''),
    uiConfig: { deepLinking: true, docExpansion: 'none', validatorUrl: null },
    initOAuth: {
      clientId,
      scopes: [...scopes],
      usePkceWithAuthorizationCodeGrant: true,
      ...(Object.keys(parameters).length > 0 && { additionalQueryStringParams: parameters })
    },
    transformSpecification: (document) =>
      forPeople(document as Described, clientId === '' ? undefined : signIn(), scopes),
    transformSpecificationClone: true
  })
  docs.get(OPENAPI_PATH, { schema: { hide: true } }, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300')
    return docs.swagger()
  })
  for (const { method, url, schema = {}, config = {} } of routes) {
    docs.route({ method, url, schema, config, handler: nothing })
  }
  await docs.ready()
  return docs
}

async function nothing (): Promise<void> {}

/** The described credentials are the real ones: both come from `config.auth`. */
function describedSchema (schema: FastifySchema, { config }: RouteOptions): FastifySchema {
  const withKeys = [{ api_key: [] }, { bearer: [] }]
  const security = { public: [], dual: withKeys, 'any-key': withKeys, jwt: [{ bearer: [] }] }[config?.auth ?? 'jwt']
  const querystring = schema.querystring as QuerySchema | undefined
  // Rate limits apply to the routes of packages too, whose schemas do not know them.
  const response = config?.rateLimit === false ? schema.response : { 429: Problem, ...schema.response as object }
  return {
    ...schema,
    response,
    security,
    ...(querystring?.properties !== undefined && { querystring: describedQuery(querystring) })
  }
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
}

/** The query as it is in a URL, where an object is JSON; with `range`, which tools do not have. */
function describedQuery ({ properties = {}, ...rest }: QuerySchema): QuerySchema {
  const described = Object.fromEntries(
    Object.entries(properties).map((
      [name, schema]
    ) => [name, schema.type === 'object' ? { ...schema, 'x-consume': 'application/json' } : schema])
  )
  return { ...rest, properties: isList(properties) ? { ...described, range: RANGE } : described }
}

const RANGE = { type: 'string', description: 'Instead of skip and limit: [first,last], last inclusive' }

/** Whether it is one of the shop's own lists; those of packages describe `range` themselves. */
function isList ({ filter, range }: Readonly<Record<string, { readonly type?: unknown }>>): boolean {
  return filter?.type === 'object' && range === undefined
}
