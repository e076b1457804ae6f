import { accessTokenFor } from 'identity-provider'
import type { Test } from 'tap'
import type { Demo } from '../../shop/src/demo/demo-file.ts'
import { bearer } from '../../shop/test/build.ts'
import { readDemo, seededData, start } from '../../shop/test/process.ts'

/** A demo with its data, which runs until the test ends. */
export interface OpenDemo {
  readonly baseUrl: string
  readonly demo: Demo
  /** Somebody who can sign in. */
  readonly person: (name: string) => Demo['users'][number]
  /** The header with an access token of a person. */
  readonly headersOf: (name: string) => Promise<{ authorization: string }>
}

/** @param more - settings beside those of the demo */
export async function openDemo (t: Test, more: Readonly<Record<string, string>> = {}): Promise<OpenDemo> {
  const settings = await seededData(t)
  const { baseUrl } = await start(t, 'demo/start', { ...settings, ...more })
  const demo = readDemo(settings.DATA_DIR)
  const person = (name: string) => demo.users.find(({ username }) => username === name)!
  const { issuer, mcp_client_id: clientId } = demo.idp
  return {
    baseUrl,
    demo,
    person,
    headersOf: async (name) =>
      bearer(await accessTokenFor({ ...person(name), issuer, clientId, resource: demo.mcp_url }))
  }
}
