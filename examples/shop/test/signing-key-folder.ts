import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { madeOnce } from '../../../test/made-once.ts'
import { signingKey } from '../src/demo/identity-provider/signing-key.ts'

const SOURCE = new URL('../src/demo/identity-provider/signing-key.ts', import.meta.url)

/**
 * @param number - which of the keys; identity providers that run at the same time have different ones
 * @returns the folder of an identity provider, with a signing key that was made once: making one takes longer than most tests
 */
export async function folderWithKey (t: Test, number = 1): Promise<string> {
  const made = await madeOnce(`signing-key-${number}`, [SOURCE], async (path) => { await signingKey(path) })
  const folder = mkdtempSync(join(tmpdir(), 'identity-provider-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  cpSync(made, folder, { recursive: true })
  return folder
}
