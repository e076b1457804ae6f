import type { FastifyInstance, RouteOptions } from 'fastify'

const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

/**
 * Warns if @fastify/rate-limit limits routes, but not the endpoint. It adds its hooks to routes while they are registered, so
 * those that came before it have none: callers would list tools and guess credentials without a limit.
 */
export function warnIfUnlimited (app: FastifyInstance): void {
  if (app.hasDecorator('rateLimit')) return
  const seen: Array<{ readonly route: RouteOptions, readonly before: number }> = []
  app.addHook('onRoute', (route) => { seen.push({ route, before: hooksOf(route) }) })
  app.addHook('onReady', async () => {
    const grown = seen.splice(0).some(({ route, before }) => hooksOf(route) > before)
    if (grown && app.hasDecorator('rateLimit')) app.log.warn('@fastify/rate-limit was registered after mcp-from-routes, so it limits routes but not the MCP endpoint. Register it before mcp-from-routes')
  })
}

function hooksOf (route: RouteOptions): number {
  return HOOKS.reduce((count, name) => count + [route[name] ?? []].flat().length, 0)
}
