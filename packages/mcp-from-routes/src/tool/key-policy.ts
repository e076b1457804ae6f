import type { RouteOptions } from 'fastify'

/** What to log, with the tools that it is about. */
export interface PolicyRemark {
  readonly level: 'info' | 'warn'
  readonly tools: readonly string[]
  readonly message: string
}

/**
 * Compares the endpoint with the routes of its tools where an authentication writes its policy into `config.auth` of
 * every route, as dual-auth does: `dual` accepts API keys and tokens, `jwt` tokens only. Other values say nothing.
 *
 * @param endpoint - the route of the endpoint
 * @param tools - their routes, by what messages call them
 * @param isFiltered - whether the host decides who may use which tool
 * @returns undefined where both accept the same
 */
export function policyRemark (endpoint: RouteOptions | undefined, tools: ReadonlyArray<{ readonly label: string, readonly route: RouteOptions }>, isFiltered: boolean): PolicyRemark | undefined {
  const labelled = (policy: string): readonly string[] => tools.filter(({ route }) => authOf(route) === policy).map(({ label }) => label)
  const [tokensOnly, withKeys] = [labelled('jwt'), labelled('dual')]
  const accepts = authOf(endpoint)
  if (accepts === 'dual' && tokensOnly.length > 0) {
    const message = 'API keys can call the MCP endpoint but not these tools, which accept tokens only'
    return isFiltered
      ? { level: 'info', tools: tokensOnly, message }
      : { level: 'warn', tools: tokensOnly, message: `${message}: set config.auth of their routes to "dual", or hide them from API keys with canUse` }
  }
  if (accepts === 'jwt' && withKeys.length > 0) {
    return { level: 'warn', tools: withKeys, message: 'API keys can call the routes of these tools but not the MCP endpoint, which accepts tokens only: set its policy to "dual"' }
  }
  return undefined
}

function authOf (route: RouteOptions | undefined): unknown {
  return (route?.config as { readonly auth?: unknown } | undefined)?.auth
}
