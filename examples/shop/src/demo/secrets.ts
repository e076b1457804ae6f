import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../settings/data-dir.ts'

/** Secrets that the demo generates at its first start, so that its code contains none. */
export interface DemoSecrets {
  /** Behind the fingerprints of API keys. */
  readonly pepper: string
  readonly machineSecret: string
  /** Behind the payment keys of shops. */
  readonly payKeySecret: string
  /** Behind the codes and refresh tokens of sign-ins. */
  readonly brokerSecret: string
  readonly metricsToken: string
  /** The payment keys that the stand-in knows, by the slug of their shop. */
  readonly payKeys: Readonly<Record<string, string>>
  /** By username. */
  readonly passwords: Readonly<Record<string, string>>
}

/** @returns the secrets in `dataDir`, created at the first start and readable by their owner only */
export function demoSecrets (dataDir: string, usernames: readonly string[], shops: readonly string[]): DemoSecrets {
  const file = join(dataDir, 'demo-secrets.json')
  const secrets: DemoSecrets = {
    pepper: random(32),
    machineSecret: random(32),
    payKeySecret: random(32),
    brokerSecret: random(32),
    metricsToken: random(24),
    payKeys: Object.fromEntries(shops.map((slug) => [slug, `sk_test_${randomBytes(12).toString('hex')}`])),
    passwords: Object.fromEntries(usernames.map((username) => [username, random(9)])),
    ...(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {})
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writePrivate(file, JSON.stringify(secrets, null, 2) + '\n')
  return secrets
}

function random (bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}
