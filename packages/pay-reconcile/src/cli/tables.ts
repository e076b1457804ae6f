import type { Static } from '@sinclair/typebox'
import { printable } from './printable.ts'
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

/** What a run found: counters, stopped shops and the first failed items. */
export function reportText (run: RunBody): string {
  const title = `${run.mode}${run.dry_run ? ' (dry run, nothing was changed)' : ''}: ${run.status}, ${run.processed} of ${run.total} accounts`
  return [
    printable(title),
    table(['outcome', 'accounts'], entries(run.outcomes)),
    table(['drift', 'accounts'], entries(run.drift)),
    table(['stopped shop', 'reason'], run.shops.stopped.map(({ shop_id: shop, reason }) => [shop, reason])),
    table(['failed account', 'reason', 'provider request'], run.items.map(item =>
      [item.account_id, item.error_code ?? '', item.provider_request_id ?? '']))
  ].filter(part => part !== '').join('\n\n') + '\n'
}

/** One line for each run. */
export function listText (runs: readonly RunSummary[]): string {
  if (runs.length === 0) return 'no runs\n'
  return table(['run', 'status', 'mode', 'shop', 'accounts', 'started', 'by'], runs.map(run => [
    run.id, run.status, run.dry_run ? `${run.mode} (dry run)` : run.mode, run.shop_id ?? 'all', `${run.processed}/${run.total}`,
    run.started_at, run.actor
  ])) + '\n'
}

function entries (counters: Readonly<Partial<Record<string, number>>>): string[][] {
  return Object.entries(counters).sort(([a], [b]) => a < b ? -1 : 1).map(([name, count]) => [name, String(count)])
}

/** A table with columns as wide as their widest cell; '' if there are no rows. */
export function table (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  if (rows.length === 0) return ''
  const cells = rows.map(row => row.map(printable))
  const widths = head.map((_, column) => [head, ...cells].reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0))
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()
  return [line(head), line(widths.map(width => '-'.repeat(width))), ...cells.map(line)].join('\n')
}

/** Whether the run finished without failures. */
export function succeeded ({ status, outcomes, shops }: RunBody): boolean {
  return status === 'done' && (outcomes.failed ?? 0) === 0 && shops.stopped.length === 0
}
