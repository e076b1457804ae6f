import { isObject, parsed } from '../json.ts'
import { nameFrom, type Client } from './client.ts'
import { redirectKind } from './redirect-uri.ts'

/** In bytes: what the draft recommends for a document. */
export const LARGEST_DOCUMENT = 5 * 1024

/** Most callback URLs of a client. */
export const MOST_REDIRECTS = 20

/**
 * Why a metadata document, or its URL, must not be used: a sentence for the person and for the author of the document.
 */
export class DocumentFault extends Error {}

/** Its server does not deliver it now. What was read before still counts for a while. */
export class DocumentOutage extends DocumentFault {}

/**
 * Checks the URL of a metadata document, which is the client's id.
 *
 * @throws {@link DocumentFault}
 * @see
 *   [draft-ietf-oauth-client-id-metadata-document §3](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-3)
 */
export function documentUrl (id: string): URL {
  must(
    id.length <= 500 && /^[\x21-\x7e]+$/.test(id) && URL.canParse(id),
    'its address is not a URL, or is longer than 500 characters'
  )
  const url = new URL(id)
  must(url.protocol === 'https:', 'its address does not start with https')
  must(url.username === '' && url.password === '', 'its address contains a username or password')
  must(!id.includes('#'), 'its address contains a fragment (#)')
  must(url.pathname !== '/', 'its address has no path')
  // A parser changes dot segments, upper case in the host, the port 443 and letters outside of ASCII.
  must(url.href === id, 'its address is not written as browsers normalize it')
  return url
}

/**
 * Reads a metadata document.
 *
 * @param url - where it was read; it must name the same
 * @param schemes - of apps that callbacks may have
 * @throws {@link DocumentFault}
 * @see
 *   [draft-ietf-oauth-client-id-metadata-document §4.1](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-4.1)
 */
export function clientFromDocument (text: string, url: string, schemes: readonly string[]): Client {
  const document = objectFrom(text)
  const uris = document['redirect_uris']

  must(document['client_id'] === url, 'its client_id is not the address that it was read from')
  must(
    document['client_secret'] === undefined && document['client_secret_expires_at'] === undefined,
    'it contains a client_secret, which anybody could read'
  )
  must(
    Array.isArray(uris) && uris.length > 0 && uris.length <= MOST_REDIRECTS,
    `its redirect_uris is not a list of 1 to ${MOST_REDIRECTS} URLs`
  )
  const known = (uris as unknown[]).filter((uri) => redirectKind(uri, schemes) !== undefined)
  must(
    known.length > 0,
    `its redirect_uris contains ${shown((uris as unknown[])[0])}, which is not allowed here: callbacks must be ` +
      'https, http on this computer, or open a known app'
  )
  must(allows(document['grant_types'], 'authorization_code'), 'its grant_types does not contain authorization_code')
  must(allows(document['response_types'], 'code'), 'its response_types does not contain code')

  return {
    id: url,
    source: 'document',
    name: nameFrom(document['client_name'], new URL(url).host),
    redirectUris: known as string[],
    ...authFrom(document)
  }
}

/**
 * A client that can do without a key does: OpenID Connect Relying Party Metadata Choices lists what else it supports,
 * as ChatGPT's document does.
 */
function authFrom (document: Record<string, unknown>): Pick<Client, 'auth' | 'keys'> {
  const {
    token_endpoint_auth_method: method = 'none',
    token_endpoint_auth_methods_supported: others,
    jwks,
    jwks_uri: jwksUri
  } = document
  if (method === 'none' || (Array.isArray(others) && others.includes('none'))) return { auth: 'none' }
  must(
    method === 'private_key_jwt',
    `its token_endpoint_auth_method is ${shown(method)}: with a metadata document only none and private_key_jwt ` +
      'can work'
  )
  if (typeof jwks === 'object' && jwks !== null) return { auth: method, keys: { jwks } }
  must(
    typeof jwksUri === 'string' && URL.canParse(jwksUri) && new URL(jwksUri).protocol === 'https:',
    'it has neither jwks nor an https jwks_uri, which private_key_jwt needs'
  )
  const { username, password } = new URL(jwksUri)
  must(username === '' && password === '', 'its jwks_uri contains a username or password')
  return { auth: method, keys: { jwksUri } }
}

export function objectFrom (text: string): Record<string, unknown> {
  const value = parsed(text)
  must(value !== undefined, 'it is not JSON')
  must(isObject(value), 'it is not a JSON object')
  return value
}

/** Left out is the default, which is what the broker needs (RFC 7591 §2). */
function allows (list: unknown, value: string): boolean {
  return list === undefined || (Array.isArray(list) && list.includes(value))
}

/** A value of the document in a sentence, in ASCII. */
function shown (value: unknown): string {
  const text = (JSON.stringify(value) ?? 'nothing').replace(/[^\x21-\x7e]|["\\]/g, '')
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

function must (condition: boolean, fault: string): asserts condition {
  if (!condition) throw new DocumentFault(fault)
}
