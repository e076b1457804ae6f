import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import type { Asking } from '../http/asking.ts'
import { askBefore } from '../shops/asking.ts'
import type { Effects } from './receive.ts'

/**
 * The question to a person before an agent imports a file that changes more than one price. There is no question about
 * a file that is refused, a dry run, or in a shop that has turned questions off.
 *
 * @param effectsOf - reads the file of a request; throws what the import would
 */
export function askBeforeImport (
  knex: Knex,
  effectsOf: (request: FastifyRequest) => Promise<Effects>
): Asking<Effects> {
  const { confirm, holder } = askBefore(knex, effectsOf, importQuestion)
  return {
    holder,
    async confirm (args, request) {
      const { dry_run: isDry } = request.query as { readonly dry_run?: boolean }
      return isDry === true ? undefined : await confirm(args, request)
    }
  }
}

/** @returns undefined if no question is needed */
export function importQuestion (
  { created, updated, price_changes: prices, prices: ranges, priced, follows }: Omit<
    Effects,
    'total' | 'unchanged' | 'changed_prices' | 'warnings' | 'unknown_columns' | 'failed' | 'errors'
  >
): string | undefined {
  if ((follows ? priced : prices) < 2) return undefined
  return [
    `Import products? ${prices} prices change, in ${updated} products that are changed; ${created} are created.`,
    ...follows ? [`Another import of the shop is not over. After it, up to ${priced} prices may change.`] : [],
    ...ranges.map(({ currency, lowest, highest, lowest_before: from, highest_before: to }) =>
      `Prices in the file: ${between(lowest, highest)} ` +
      `${currency}${
        from === null || to === null ? '' : `. Those that change are ${between(from, to)} ${currency} now`
      }.`
    ),
    'It can be undone from the history.'
  ].join('\n')
}

function between (lowest: string, highest: string): string {
  return lowest === highest ? lowest : `${lowest} to ${highest}`
}
