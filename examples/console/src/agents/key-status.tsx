import { StatusChip } from '../layout/status-chip.tsx'
import type { ApiKey } from './key.ts'
import { useWaitingKeys } from './use-waiting-keys.ts'

/** The status of a key. One that waits for a decision is active to the server, which refuses it all the same. */
export function KeyStatus ({ apiKey: { id, status } }: { readonly apiKey: Pick<ApiKey, 'id' | 'status'> }) {
  const isWaiting = useWaitingKeys().some((key) => key.id === id)
  return <StatusChip status={isWaiting ? 'refused' : status} />
}
