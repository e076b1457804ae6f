import { check } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { PROTOCOL_VERSIONS } from '../../types.ts'
import { cardFrom, type ServerCardOptions } from './card.ts'

export type { CardHeader, ServerCard, ServerCardOptions } from './card.ts'

/**
 * Serves a server card at `<path>/server-card`, for catalogs and clients that have not connected yet (SEP-2127, a
 * draft). Everybody can read it.
 * @returns for the option `extensions`
 */
export function card (options: ServerCardOptions): Extension {
  return {
    name: 'mcp-from-routes/card',
    keys: [],
    settings: ({ path, serverInfo }) => ({
      card: {
        sent: cardFrom(
          options,
          { path, serverInfo, versions: PROTOCOL_VERSIONS },
          (holds, problem) => check(holds, 'card', problem)
        ),
        config: options.config
      }
    })
  }
}
