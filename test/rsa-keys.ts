import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { madeOnce } from './made-once.ts'

const COUNT = 24

const file = await madeOnce('rsa-keys', [new URL(import.meta.url)], async (path) => {
  const keys = Array.from(
    { length: COUNT },
    () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  )
  writeFileSync(path, JSON.stringify(keys), { mode: 0o600 })
})
const pairs: readonly KeyPairKeyObjectResult[] = (JSON.parse(readFileSync(file, 'utf8')) as string[]).map((pem) => ({
  privateKey: createPrivateKey(pem),
  publicKey: createPublicKey(pem)
}))
let taken = 0

/**
 * @returns an RSA key that no other caller in this process gets. Making one takes longer than most tests, so some are
 * kept
 */
export function rsaKeyPair (): KeyPairKeyObjectResult {
  return pairs[taken++] ?? generateKeyPairSync('rsa', { modulusLength: 2048 })
}
