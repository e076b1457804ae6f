import { startupErrorsOf } from '#shared/startup-error'

const createError = startupErrorsOf('mcp-from-routes')

/*
 * Every one of these is thrown at startup, never by a request.
 * The first %s of a route error is the route, as in `GET /products/:id`.
 */

/** An option has a wrong value, or is unknown. */
export const MCP_FROM_ROUTES_INVALID_OPTION = createError(
  'MCP_FROM_ROUTES_INVALID_OPTION',
  'mcp-from-routes: %s %s'
)

/** The plugin was registered inside a scope, whose hooks do not reach all routes. */
export const MCP_FROM_ROUTES_REGISTERED_IN_SCOPE = createError(
  'MCP_FROM_ROUTES_REGISTERED_IN_SCOPE',
  'mcp-from-routes was registered inside a plugin that has its own scope, where it cannot guard all routes. ' +
    'Register it on the root instance, or wrap every plugin around it in fastify-plugin, such as app.js of fastify-cli'
)

/** Tagged routes were registered before the plugin, which turns only later ones into tools. */
export const MCP_FROM_ROUTES_REGISTERED_LATE = createError(
  'MCP_FROM_ROUTES_REGISTERED_LATE',
  'These routes were registered before mcp-from-routes, so they cannot be tools: %s. Register it first, and ' +
    'with await: await app.register(mcpFromRoutes, …)'
)

/** Node.js or Fastify lacks something that the plugin relies on, as a new major version may. */
export const MCP_FROM_ROUTES_UNSUPPORTED_VERSION = createError(
  'MCP_FROM_ROUTES_UNSUPPORTED_VERSION',
  'mcp-from-routes does not work with this version of %s: %s. Use a version that its README names, or a newer ' +
    'mcp-from-routes'
)

/** Several tagged routes cannot be tools; `errors` has the error of each. */
export const MCP_FROM_ROUTES_INVALID_ROUTES = createError<[number, string]>(
  'MCP_FROM_ROUTES_INVALID_ROUTES',
  '%d routes cannot be tools:\n%s'
)

/** A tagged route has no `schema.operationId`. */
export const MCP_FROM_ROUTES_NO_OPERATION_ID = createError(
  'MCP_FROM_ROUTES_NO_OPERATION_ID',
  '%s is tagged %s but has no operationId. Add schema.operationId: it is the tool name%s'
)

/** The `operationId` of a tagged route cannot be a tool name in every client. */
export const MCP_FROM_ROUTES_INVALID_NAME = createError(
  'MCP_FROM_ROUTES_INVALID_NAME',
  '%s has the operationId %s. A tool name has 1 to 64 letters, digits, _ or -'
)

/** Two tagged routes have the same `operationId`. */
export const MCP_FROM_ROUTES_DUPLICATE_NAME = createError(
  'MCP_FROM_ROUTES_DUPLICATE_NAME',
  '%s and %s both have the operationId %s. Give each tagged route its own'
)

/** A tagged route has neither `schema.description` nor `schema.summary`. */
export const MCP_FROM_ROUTES_NO_DESCRIPTION = createError(
  'MCP_FROM_ROUTES_NO_DESCRIPTION',
  '%s has no description. Add schema.description: it is what the model reads to choose the tool'
)

/** The path, the query string and the body of a route have an input of the same name. */
export const MCP_FROM_ROUTES_NAME_CLASH = createError(
  'MCP_FROM_ROUTES_NAME_CLASH',
  '%s has two inputs named %s (%s). Rename one in config.mcp.arguments, or give both the same name there to ' +
    'fill them from one argument'
)

/** A tagged route has inputs whose names are no argument names in every client. */
export const MCP_FROM_ROUTES_INVALID_ARGUMENT = createError<[string, string, string]>(
  'MCP_FROM_ROUTES_INVALID_ARGUMENT',
  '%s has inputs that cannot be arguments: %s. An argument name has 1 to 64 letters, digits, _, . or -: clients ' +
    'of the Anthropic API fail on any other, with all their tools. Rename them, for example config.mcp.arguments: ' +
    '%s'
)

/** The `config.mcp` of a tagged route is wrong. */
export const MCP_FROM_ROUTES_INVALID_CONFIG = createError(
  'MCP_FROM_ROUTES_INVALID_CONFIG',
  '%s has a wrong config.mcp: %s'
)

/** The path, the method, the query string or the body of a tagged route cannot be called as a tool. */
export const MCP_FROM_ROUTES_UNSUPPORTED_ROUTE = createError(
  'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE',
  '%s cannot be a tool: %s'
)

/** A schema of a tagged route cannot be published as JSON Schema 2020-12. */
export const MCP_FROM_ROUTES_INVALID_SCHEMA = createError(
  'MCP_FROM_ROUTES_INVALID_SCHEMA',
  '%s has a schema that cannot be published: %s'
)

/** The file of the option `routes` cannot be read, or an entry of it is wrong. */
export const MCP_FROM_ROUTES_INVALID_REVIEW = createError<[string, string]>(
  'MCP_FROM_ROUTES_INVALID_REVIEW',
  '%s cannot be used:%s'
)

/**
 * The folder of the option `skills` cannot be read, a skill breaks the rules of the format, or a call that it shows is
 * not one of the tools.
 */
export const MCP_FROM_ROUTES_INVALID_SKILLS = createError<[string]>(
  'MCP_FROM_ROUTES_INVALID_SKILLS',
  'the skills cannot be served:%s'
)
