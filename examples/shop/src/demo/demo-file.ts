import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirFrom, writePrivate } from '../settings/data-dir.ts'

/** The contents of `demo.json`: where everything is, for programs. */
export interface Demo {
  readonly base_url: string
  readonly mcp_url: string
  readonly console_url: string
  readonly shops: ReadonlyArray<
    { readonly id: string, readonly slug: string, readonly name: string, readonly api_key: string }
  >
  readonly idp: {
    readonly issuer: string,
    readonly mcp_client_id: string,
    readonly m2m: { readonly client_id: string, readonly client_secret: string, readonly scope: string }
  }
  /** The stand-in for the payment provider. */
  readonly pay: { readonly url: string }
  /** The stand-in for GitHub's secret scanning. */
  readonly scanner: { readonly url: string }
  /** For Prometheus. */
  readonly metrics: { readonly url: string, readonly token: string }
  readonly users: ReadonlyArray<
    { readonly username: string, readonly password: string, readonly roles: readonly string[] }
  >
}

/** Where the demo keeps its data. */
export const demoDataDir = dataDirFrom(process.env['DATA_DIR'] || 'examples/shop/.data')

const file = join(demoDataDir, 'demo.json')

/** @returns what the last start wrote, or undefined when there was none */
export function readDemo (): Demo | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** @returns the file that it wrote; its owner alone can read it */
export function writeDemo (demo: Demo): string {
  writePrivate(file, JSON.stringify(demo, null, 2) + '\n')
  return file
}
