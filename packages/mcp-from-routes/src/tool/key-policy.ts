import type { RouteOptions } from 'fastify'

/** What to warn of, with the tools that it is about. */
export interface PolicyWarning {
  readonly tools: readonly string[]
  readonly message: string
}

/**
 * Compares the endpoint with the routes of its tools where an authentication writes its policy into `config.auth` of
 * every route, as dual-auth does: `dual` accepts API keys and tokens, `jwt` tokens only. Other values say nothing.
 *
 * @param endpoint - the route of the endpoint
 * @param tools - their routes, by what messages call them
 * @returns undefined where both accept the same
 */
export function policyWarning (endpoint: RouteOptions | undefined, tools: ReadonlyArray<{ readonly label: string, readonly route: RouteOptions }>): PolicyWarning | undefined {
  const labelled = (policy: string): readonly string[] => tools.filter(({ route }) => authOf(route) === policy).map(({ label }) => label)
  const [tokensOnly, withKeys] = [labelled('jwt'), labelled('dual')]
  const accepts = authOf(endpoint)
  if (accepts === 'dual' && tokensOnly.length > 0) {
    return { tools: tokensOnly, message: 'API keys can call the MCP endpoint but not these tools, which accept tokens only: set config.auth of their routes to "dual", or hide them from API keys with canUse' }
  }
  if (accepts === 'jwt' && withKeys.length > 0) {
    return { tools: withKeys, message: 'API keys can call the routes of these tools but not the MCP endpoint, which accepts tokens only: set its policy to "dual"' }
  }
  return undefined
}

function authOf (route: RouteOptions | undefined): unknown {
  return (route?.config as { readonly auth?: unknown } | undefined)?.auth
}
