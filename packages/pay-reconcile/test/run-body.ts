import type { RunBody } from '../src/cli/tables.ts'

/** A run over one shop without accounts, as the server answers. */
export const emptyRun: RunBody = {
  id: 'r',
  mode: 'sync',
  dry_run: true,
  shop_id: null,
  status: 'done',
  cancel_requested: false,
  scheduled_for: null,
  actor: 'user-1',
  started_at: '',
  finished_at: '',
  total: 0,
  processed: 0,
  outcomes: {},
  differences: {},
  selection: {},
  shops: { total: 1, finished: 0, stopped: [] },
  items: [],
  items_count: 0
}
