import type { Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import type { Confirm } from 'mcp-from-routes'
import { configRepository } from '../shops/config-repository.ts'
import type { importReceiver } from './receive.ts'
import type { ImportPreview } from './schemas.ts'

type Preview = Static<typeof ImportPreview>

/**
 * The question to a person before an agent imports a file that changes more than one price. There is no question about a
 * file that would be refused, or in a shop that has turned questions off.
 *
 * @param previewOf - reads the file of a request
 */
export function askBeforeImport (knex: Knex, previewOf: (request: FastifyRequest) => ReturnType<ReturnType<typeof importReceiver>['preview']>): { readonly confirm: Confirm } {
  const shops = configRepository(knex)
  return {
    async confirm (_args, request: FastifyRequest) {
      const { dry_run: isDry, skip_invalid: skipsInvalid } = request.query as { readonly dry_run?: boolean, readonly skip_invalid?: boolean }
      if (isDry === true || !(await shops.get(request.shop)).confirm_agent_calls) return undefined
      const preview = await previewOf(request).catch(refused)
      return preview === undefined || (preview.failed > 0 && skipsInvalid !== true) ? undefined : importQuestion(preview)
    }
  }
}

/** The route says it better. */
function refused (error: Error & { readonly statusCode?: number }): undefined {
  if (error.statusCode === undefined) throw error
  return undefined
}

/** @returns undefined if no question is needed */
export function importQuestion ({ created, updated, price_changes: prices }: Pick<Preview, 'created' | 'updated' | 'price_changes'>): string | undefined {
  if (prices < 2) return undefined
  return `Import products? ${prices} prices change, in ${updated} products that are changed; ${created} are created.\nIt can be undone from the history.`
}
