import { useQuery } from '@tanstack/react-query'
import { useShop, useViewer } from '../viewer.tsx'

/** A key that is active and refused, because who made it has left. */
interface WaitingKey {
  readonly id: string
  readonly name: string
  /** Null: they were deleted. */
  readonly user_id: string | null
  readonly user_name: string | null
}

interface WaitingKeysAnswer {
  readonly keys: readonly WaitingKey[]
}

/** @returns the keys of the shop that wait for somebody to decide about them */
export function useWaitingKeys (): readonly WaitingKey[] {
  const { call } = useViewer()
  const { id } = useShop()
  const { data = [] } = useQuery({
    queryKey: ['api-keys', 'waiting', id],
    queryFn: async () => (await call<WaitingKeysAnswer>(`/shops/${id}/waiting-keys`)).json.keys
  })
  return data
}
