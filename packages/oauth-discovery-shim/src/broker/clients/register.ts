import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject, parsed } from '../../json.ts'
import { nameFrom } from '../../client-document/client.ts'
import { MOST_REDIRECTS } from '../../client-document/document.ts'
import { redirectKind } from '../../client-document/redirect-uri.ts'
import { refusal } from '../refusal.ts'
import type { Sealer } from '../seal.ts'

/** What a sealed client id holds. */
export interface RegisteredClient {
  readonly name: string
  readonly uris: readonly string[]
}

/** In characters: it comes with every request of the client, and in URLs. */
const LONGEST_ID = 4000

/**
 * `POST`: a client gets an id that holds what it registered, so that nothing is stored.
 *
 * @see [RFC 7591 §3](https://www.rfc-editor.org/rfc/rfc7591#section-3)
 */
export function registerClient (sealer: Sealer, schemes: readonly string[], scopes: readonly string[]) {
  return async ({ body }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    // Without a body, this is the string "undefined", which is not JSON either.
    const client = registeredClientFrom(String(body), schemes)
    const id = sealer.seal('client', client)
    if (id.length > LONGEST_ID) throw refusal('invalid_client_metadata', 'redirect_uris are too long in total')
    return reply.code(201).send({
      client_id: id,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      client_name: client.name,
      redirect_uris: client.uris,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: scopes.join(' ')
    })
  }
}

/**
 * What is kept of a registration. Other members are replaced or left out, as RFC 7591 §3.2.1 allows: the response tells
 * a client that wants a secret that it has none.
 *
 * @throws a {@link refusal} `invalid_redirect_uri` or `invalid_client_metadata`
 */
function registeredClientFrom (text: string, schemes: readonly string[]): RegisteredClient {
  const registration = parsed(text)
  if (!isObject(registration)) throw refusal('invalid_client_metadata', 'The registration must be a JSON object')
  const { redirect_uris: uris, client_name: name } = registration
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MOST_REDIRECTS) {
    throw refusal('invalid_redirect_uri', `redirect_uris must be a list of 1 to ${MOST_REDIRECTS} URLs`)
  }
  // The response lists what was registered, RFC 7591 §3.2.1.
  const known = uris.filter((uri) => redirectKind(uri, schemes) !== undefined)
  if (known.length === 0) {
    throw refusal(
      'invalid_redirect_uri',
      'redirect_uris must have an https URL, an http URL on localhost, 127.0.0.1 or [::1], or one of an app ' +
        `with the scheme ${schemes.join(', ')}, which the operator lists in appSchemes`
    )
  }
  return { name: nameFrom(name, 'An app without a name'), uris: [...new Set(known as string[])] }
}
