import type { IncomingHttpHeaders } from 'node:http'

/** The kind of credential that a request presents, valid or not. */
export type CredentialKind = 'api-key' | 'token' | 'none'

/** @param marker - the prefix of API keys */
export function credentialKind (headers: IncomingHttpHeaders, marker: string): CredentialKind {
  const { authorization } = headers
  if (headers['x-api-key'] !== undefined) return 'api-key'
  if (authorization === undefined) return 'none'
  return authorization.slice('Bearer '.length).startsWith(`${marker}_`) ? 'api-key' : 'token'
}
