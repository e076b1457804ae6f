import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifySchema, type RouteOptions } from 'fastify'
import { Problem } from '../problem.ts'
import { VERSION } from '../version.ts'

/** Where the description of the API is, for programs and for people. */
export const OPENAPI_PATH = '/openapi.json'
export const DOCS_PATH = '/docs'

const DESCRIPTION = `Catalogs, accounts, orders and payment keys of many shops.

Routes that are tagged \`mcp\` are also tools for agents, at \`/mcp\`; they take an API key of their shop or a token. All others take tokens only.
Money is in minor units of its currency: 1999 is 19.99 EUR, and 1999 JPY. Lists take \`skip\`, \`limit\`, \`filter\` and \`sort\`, and answer with \`Content-Range\`.`

/**
 * Serves the description of the routes that come after it: `/openapi.json`, and `/docs`, its pages. What makes them
 * takes a while to load and few ask for them, so they are made at the first request, by an app of their own that has
 * the same routes with nothing behind them.
 */
export async function documentation (app: FastifyInstance, { publicBaseUrl }: { readonly publicBaseUrl: string }): Promise<void> {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    // The URL is read now: Fastify goes on to use the same object for the twin with a slash at the end.
    if (route.method !== 'HEAD' && route.schema?.hide !== true) routes.push(Object.assign(Object.create(route), { url: route.url }))
  })
  let docs: Promise<FastifyInstance> | undefined
  app.addHook('onClose', async () => await (await docs)?.close())

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    docs ??= describingApp(routes, publicBaseUrl)
    const { statusCode, headers, rawPayload } = await (await docs).inject({ method: 'GET', url: request.url })
    if (statusCode === 404) return reply.callNotFound()
    // Its length and the connection are the outer answer's to tell.
    const { 'content-length': _length, connection: _connection, date: _date, 'transfer-encoding': _encoding, ...told } = headers
    return await reply.code(statusCode).headers(told).send(rawPayload)
  }
  const route = { config: { auth: 'public' }, schema: { hide: true } } as const
  app.get(OPENAPI_PATH, route, answer)
  app.get(DOCS_PATH, route, answer)
  app.get(`${DOCS_PATH}/*`, route, answer)
}

async function describingApp (routes: readonly RouteOptions[], publicBaseUrl: string): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([import('@fastify/swagger'), import('@fastify/swagger-ui')])
  const docs = Fastify({ exposeHeadRoutes: false, routerOptions: { ignoreTrailingSlash: true } })
  // Nothing is ever sent to these routes: their schemas are read, not run.
  docs.setValidatorCompiler(() => () => true)
  docs.setSerializerCompiler(() => (value) => JSON.stringify(value))
  await docs.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Shop', version: VERSION, description: DESCRIPTION },
      servers: [{ url: new URL(publicBaseUrl).origin }],
      components: {
        securitySchemes: {
          api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key of one shop; also taken as bearer token' },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token of the identity provider, of a person or a machine' }
        }
      }
    },
    transform: ({ schema, url, route }) => ({ url, schema: describedSchema(schema ?? {}, route) }),
    transformObject: (described) => withSharedProblem('openapiObject' in described ? described.openapiObject as Described : {})
  })
  await docs.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: true,
    // Without what would load or send anything elsewhere, or ask for https where the server has none.
    transformStaticCSP: (policy) => policy.replaceAll(/ (?:https:|validator\.swagger\.io|upgrade-insecure-requests;)/g, ''),
    uiConfig: { deepLinking: true, docExpansion: 'none', validatorUrl: null }
  })
  docs.get(OPENAPI_PATH, { schema: { hide: true } }, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300')
    return docs.swagger()
  })
  for (const { method, url, schema = {}, config = {} } of routes) docs.route({ method, url, schema, config, handler: nothing })
  await docs.ready()
  return docs
}

async function nothing (): Promise<void> {}

/** What a route says of its credentials is what the authentication does: both read `config.auth`. */
function describedSchema (schema: FastifySchema, { config }: RouteOptions): FastifySchema {
  const security = { public: [], dual: [{ api_key: [] }, { bearer: [] }], jwt: [{ bearer: [] }] }[config?.auth ?? 'jwt']
  const querystring = schema.querystring as QuerySchema | undefined
  // The limits are in front of the routes of packages too, which do not know of them.
  const response = config?.rateLimit === false ? schema.response : { 429: Problem, ...schema.response as object }
  return { ...schema, response, security, ...(querystring?.properties !== undefined && { querystring: describedQuery(querystring) }) }
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
}

/** As it stands in a URL, where an object is its JSON text. */
function describedQuery ({ properties = {}, ...rest }: QuerySchema): QuerySchema {
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) =>
      [name, schema.type === 'object' ? { ...schema, 'x-consume': 'application/json' } : schema]))
  }
}

interface Described {
  readonly components?: object
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly responses?: Readonly<Record<string, Answer>> }>>>>
}

interface Answer {
  readonly content?: Record<string, { schema?: { readonly description?: string } }>
}

/** Nearly every answer that is no success has the same body, which is described once. */
function withSharedProblem (document: Described): Described {
  let problem: object | undefined
  const answers = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path)).flatMap(({ responses = {} }) => Object.values(responses))
  for (const media of answers.flatMap(({ content = {} }) => Object.values(content))) {
    if (media.schema?.description !== Problem.description) continue
    problem ??= media.schema
    media.schema = { $ref: '#/components/schemas/Problem' } as object
  }
  return problem === undefined ? document : { ...document, components: { ...document.components, schemas: { Problem: problem } } }
}
