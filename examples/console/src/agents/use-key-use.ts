import { useQuery } from '@tanstack/react-query'
import { useShop, useViewer } from '../viewer.tsx'
import type { KeyUse } from './key-use.ts'

/**
 * What a key was used for.
 *
 * @param every - how often it is read again, in milliseconds; for a function, by what was read
 */
export function useKeyUse (keyId: string, every: number | ((use: KeyUse | undefined) => number | false)) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  return useQuery({
    queryKey: ['key-use', shopId, keyId],
    queryFn: async () => (await call<KeyUse>(`/shops/${shopId}/api-keys/${keyId}/calls`)).json,
    refetchInterval: ({ state }) => typeof every === 'number' ? every : every(state.data),
    refetchOnMount: 'always'
  })
}
