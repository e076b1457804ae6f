import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { VERSION } from '../version.ts'

/** Where the description of the API is, for programs and for people. */
export const OPENAPI_PATH = '/openapi.json'
export const DOCS_PATH = '/docs'

const DESCRIPTION = `Catalogs, accounts, orders and payment keys of many shops.

Routes that are tagged \`mcp\` are also tools for agents, at \`/mcp\`; they take an API key of their shop or a token. All others take tokens only.
Money is in minor units: 1999 is 19.99. Lists take \`skip\`, \`limit\`, \`filter\` and \`sort\`, and answer with \`Content-Range\`.`

/** Describes the routes that come after it. */
export async function describeRoutes (app: FastifyInstance, publicBaseUrl: string): Promise<void> {
  await app.register(swagger, {
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
    transform: ({ schema, url, route }) => ({ url, schema: describedSchema(schema ?? {}, route) })
  })
}

/** What a route says of its credentials is what the authentication does: both read `config.auth`. */
function describedSchema (schema: FastifySchema, { config }: RouteOptions): FastifySchema {
  const security = { public: [], dual: [{ api_key: [] }, { bearer: [] }], jwt: [{ bearer: [] }] }[config?.auth ?? 'jwt']
  const querystring = schema.querystring as QuerySchema | undefined
  return { ...schema, security, ...(querystring?.properties !== undefined && { querystring: describedQuery(querystring) }) }
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown, readonly default?: unknown }>>
  readonly required?: readonly string[]
}

/** As it stands in a URL: what has a default can be left out, and an object is its JSON text. */
function describedQuery ({ properties = {}, required = [], ...rest }: QuerySchema): QuerySchema {
  return {
    ...rest,
    required: required.filter((name) => properties[name]?.default === undefined),
    properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) =>
      [name, schema.type === 'object' ? { ...schema, 'x-consume': 'application/json' } : schema]))
  }
}

/** `/openapi.json`, and `/docs`, its pages. */
export async function documentation (app: FastifyInstance): Promise<void> {
  app.addHook('onRoute', (route) => { route.config = { ...route.config, auth: 'public' } })
  app.get(OPENAPI_PATH, { schema: { hide: true } }, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300')
    return app.swagger()
  })
  await app.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: true,
    // Without what would load or send anything elsewhere, or ask for https where the server has none.
    transformStaticCSP: (policy) => policy.replaceAll(/ (?:https:|validator\.swagger\.io|upgrade-insecure-requests;)/g, ''),
    uiConfig: { deepLinking: true, docExpansion: 'none', validatorUrl: null }
  })
}
