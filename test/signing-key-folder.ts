import { signingKey } from 'identity-provider'
import { cpSync } from 'node:fs'
import { madeOnce } from './made-once.ts'
import { folderFor, type Scope } from './scope.ts'

const SOURCE = new URL('../examples/identity-provider/src/signing-key.ts', import.meta.url)

/**
 * @param number - which of the keys; identity providers that run at the same time have different ones
 * @returns the folder of an identity provider, with a signing key that was made once: making one takes longer than most
 *   tests
 */
export async function folderWithKey (t: Scope, number = 1): Promise<string> {
  const made = await madeOnce(`signing-key-${number}`, [SOURCE], async (path) => {
    await signingKey(path)
  })
  const folder = folderFor(t, 'identity-provider')
  cpSync(made, folder, { recursive: true })
  return folder
}
