import type { Work as WorkSchema } from '../../../shop/src/history/work-schemas.ts'
import { texts } from '../texts.ts'
import { riseText } from '../times.ts'
import { recordsText } from './entry.ts'

/** What one actor changed in one go, as the server lists it. */
export type Work = typeof WorkSchema['static']

/** `changed 50 products, created 1 tag, prices +5 %`, after `imported a file: ` if it did that. */
export function workText ({ records, prices, operation }: Work, locale: string): string {
  const { actions, work: { part, prices: priced, bulk } } = texts.activity
  const parts = [
    ...records.map(({ action, record_kind: kind, records: count }) =>
      part(actions[action] ?? action, recordsText(kind, count, locale))
    ),
    ...prices === null
      ? []
      : [
        priced(
          [...new Set([prices.lowest, prices.highest])].flatMap((percent) =>
            percent === null ? [] : [riseText(percent, locale)]
          )
        )
      ]
  ].join(', ')
  const how = operation === null ? undefined : bulk[operation]
  return how === undefined ? parts : `${how}: ${parts}`
}
