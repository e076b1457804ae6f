import type { IncomingHttpHeaders } from 'node:http'

/** What a request presents, before anything is known of whether it is good. */
export type CredentialKind = 'api-key' | 'token' | 'none'

/** @param marker - what API keys start with */
export function credentialKind (headers: IncomingHttpHeaders, marker: string): CredentialKind {
  const { authorization } = headers
  if (headers['x-api-key'] !== undefined) return 'api-key'
  if (authorization === undefined) return 'none'
  return authorization.slice('Bearer '.length).startsWith(`${marker}_`) ? 'api-key' : 'token'
}
