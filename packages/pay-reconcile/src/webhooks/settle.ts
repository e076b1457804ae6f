import type { Core, Hooks } from '../extension.ts'
import { limitsOf } from '../reconcile/shop-work.ts'
import type { AwaitedShops } from '../reconcile/types.ts'

/** The note of a shop is kept while something is left to read there: the run starts again later. */
export function settleAwaited (
  awaited: AwaitedShops,
  { accounts, log }: Pick<Core, 'accounts' | 'log'>
): NonNullable<Hooks['partEnded']> {
  return async (run, shopId, ending) => {
    if (run.webhook !== true) return
    const [shop] = await accounts.shops(shopId, { ...limitsOf(run, null), failedIn: run.id })
    if (!shop || (ending.status === 'done' && shop.accounts === 0)) return await awaited.done(run.id, shopId)
    log.warn(
      { shopId, runId: run.id, ...(ending.status === 'stopped' && { reason: ending.reason }) },
      'changes of the shop are left: a run starts again later'
    )
  }
}
