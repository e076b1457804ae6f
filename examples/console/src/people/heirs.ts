import { type Call, readAll } from '../api/http.ts'
import type { Heir } from './leaving-dialog.tsx'

interface Listed {
  readonly user_id: string
  readonly name: string | null
  readonly active: boolean
}

/**
 * Who can take over keys of a shop: its active members, and the viewer, who is an owner of it or an admin.
 *
 * @param leaving - the id of who had them
 */
export async function heirsIn (
  call: Call,
  shopId: string,
  viewer: Heir,
  leaving: string
): Promise<readonly Heir[]> {
  const { rows } = await readAll<Listed>(call, `/shops/${shopId}/members`)
  const others = rows.filter(({ user_id: id, active }) => active && id !== leaving && id !== viewer.id)
  return [
    ...viewer.id === leaving ? [] : [{ id: viewer.id, name: viewer.name }],
    ...others.map(({ user_id: id, name }) => ({ id, name: name ?? id }))
  ]
}
