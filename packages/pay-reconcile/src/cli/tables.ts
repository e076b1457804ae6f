import type { Static } from '@sinclair/typebox'
import { printable } from '../printable.ts'
import { table } from './table.ts'
import type { RunSchema, RunWithItemsSchema } from '../admin/run-schemas.ts'

/** The server's response about a run. */
export type RunBody = Static<typeof RunWithItemsSchema>

/** A run in a list, without its items. */
export type RunSummary = Static<typeof RunSchema>

/** `[#####-----]  50% 5000/10000 accounts, 2/3 shops, 1 failed` */
export function progressLine ({ processed, total, shops, outcomes }: RunBody, width = 30): string {
  const done = total === 0 ? 1 : Math.min(processed / total, 1)
  const filled = Math.floor(done * width)
  const percent = `${Math.floor(done * 100)}%`.padStart(4)
  return printable(`[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${percent} ${processed}/${total} accounts, ` +
    `${shops.finished}/${shops.total} shops, ${outcomes.failed ?? 0} failed`)
}

/** What a run found: counters, stopped shops and a table of items. */
export function reportText (run: RunBody, items = ''): string {
  const title = `${run.mode}${run.dry_run ? ' (dry run, nothing was changed)' : ''}: ${run.status}, ${run.processed} of ${run.total} accounts`
  return [
    printable(title),
    table(['outcome', 'accounts'], entries(run.outcomes)),
    table(['differences', 'accounts'], entries(run.differences)),
    table(['stopped shop', 'reason'], run.shops.stopped.map(({ shop_id: shop, reason, missing_permission: missing }) => [shop, missing === undefined ? reason : `${reason}  lacks ${missing}`])),
    items
  ].filter((part) => part !== '').join('\n\n') + '\n'
}

/** One line for each run. */
export function listText (runs: readonly RunSummary[]): string {
  if (runs.length === 0) return 'no runs\n'
  return table(['run', 'status', 'mode', 'shop', 'accounts', 'started', 'by'], runs.map((run) => [
    run.id, run.status, run.dry_run ? `${run.mode} (dry run)` : run.mode, run.shop_id ?? 'all', `${run.processed}/${run.total}`,
    run.started_at, run.actor
  ])) + '\n'
}

function entries (counters: Readonly<Partial<Record<string, number>>>): string[][] {
  return Object.entries(counters).sort(([a], [b]) => a < b ? -1 : 1).map(([name, count]) => [name, String(count)])
}

/** Whether the run finished without failures. */
export function succeeded ({ status, outcomes, shops }: RunBody): boolean {
  return status === 'done' && (outcomes.failed ?? 0) === 0 && shops.stopped.length === 0
}
