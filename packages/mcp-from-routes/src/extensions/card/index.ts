import { check } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { PROTOCOL_VERSIONS } from '../../types.ts'
import { cardFrom, cardRoutes, type ServerCard, type ServerCardOptions } from './card.ts'

export type { CardHeader, ServerCard, ServerCardOptions } from './card.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The server card as it is sent. */
    readonly mcpCard: ServerCard
  }
}

/**
 * Serves a server card at `<path>/server-card`, for catalogs and clients that have not connected yet (SEP-2127, a
 * draft). Everybody can read it.
 * @returns for the option `extensions`
 */
export function card (options: ServerCardOptions): Extension {
  return {
    name: 'mcp-from-routes/card',
    keys: [],
    install ({ app, settings: { path, serverInfo }, route }) {
      const sent = cardFrom(
        options,
        { path, serverInfo, versions: PROTOCOL_VERSIONS },
        (holds, problem) => check(holds, 'card', problem)
      )
      app.decorate('mcpCard', sent)
      for (const one of cardRoutes(path, sent, options.config)) route(one)
      return { contract: () => ({ cards: new Map([[sent.name, sent]]) }) }
    }
  }
}
