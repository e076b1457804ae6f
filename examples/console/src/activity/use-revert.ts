import { useQueryClient } from '@tanstack/react-query'
import { useNotify } from 'react-admin'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import type { Revert } from './revert.ts'

/** What the key of a query begins with that asks what an undo would do. */
export const PREVIEW = 'revert'

/**
 * Undoes changes of the shop.
 *
 * @param path - below the history: `revert`, or that of one change
 * @param data - which changes; asked for at each call, since what somebody is typing may be no time yet
 */
export function useRevert (path: string, data: () => object) {
  const { call } = useViewer()
  const { id } = useShop()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const send = async (more: object, isRead: boolean): Promise<Revert> =>
    (await call<Revert>(`/shops/${id}/history/${path}`, { method: 'POST', data: { ...data(), ...more }, isRead })).json
  return {
    /** What it would do. */
    check: async () => await send({ dry_run: true }, true),
    /** @param preview - what somebody agreed to: conflicts that it has are skipped, later ones are not */
    undo: async (preview: Revert | undefined) => {
      const { reverted } = await send((preview?.conflict_count ?? 0) > 0 ? { skip_conflicts: true } : {}, false)
      // Not what was agreed to: its dialog is still open, and would say that it was undone already, as an error.
      await queryClient.invalidateQueries({ predicate: ({ queryKey: [name] }) => name !== PREVIEW })
      notify(texts.activity.done(reverted), { type: 'success' })
    }
  }
}
