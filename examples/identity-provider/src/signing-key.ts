import { generateKeyPair, randomUUID, type JsonWebKey } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** An RSA key pair as a JSON Web Key. */
export interface SigningKey extends JsonWebKey {
  readonly kty: 'RSA'
  readonly kid: string
  readonly alg: 'RS256'
  readonly use: 'sig'
}

/** The key in `dataDir`, made at first use and readable by its owner only; without a directory a new one. */
export async function signingKey (dataDir?: string): Promise<SigningKey> {
  if (dataDir === undefined) return newKey()
  const file = join(dataDir, 'signing-key.json')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const key = await newKey()
    await writeFile(file, JSON.stringify(key), { mode: 0o600, flag: 'wx' })
    return key
  }
}

async function newKey (): Promise<SigningKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kty: 'RSA', kid: randomUUID(), alg: 'RS256', use: 'sig' }
}
