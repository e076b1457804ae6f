import { createHash, timingSafeEqual } from 'node:crypto'
import type { Broker } from '../broker.ts'
import { clientOf } from '../clients/authentication.ts'
import { digest } from '../digest.ts'
import type { Parameters } from '../parameters.ts'
import { refusal } from '../refusal.ts'
import type { AssertionClient } from './options.ts'

/** What a client says who it is, with a secret. */
interface Named {
  readonly id: string
  readonly secret: string
}

/**
 * The client of a request, once it has proven who it is: by a secret, or by the key in its metadata document. A public
 * client gets nothing: who has stolen an assertion would be that client.
 *
 * @param authorization - the header of the request
 * @returns its id
 * @throws a {@link refusal} `invalid_client`, or `invalid_request` for a request that authenticates twice
 * @see [RFC 6749 §2.3](https://www.rfc-editor.org/rfc/rfc6749#section-2.3)
 */
export async function confidentialClient (
  authorization: string | undefined,
  parameters: Parameters,
  known: readonly AssertionClient[],
  broker: Broker
): Promise<string> {
  const [id, secret, assertion] = ['client_id', 'client_secret', 'client_assertion'].map((name) => parameters.get(name))
  const ways = [authorization, secret, assertion].filter((way) => way !== undefined).length
  if (ways > 1) throw refusal('invalid_request', 'The client authenticates in more than one way')
  if (ways === 0) throw refusal('invalid_client', 'This grant is for clients that authenticate', 401)
  if (assertion !== undefined) {
    const client = clientOf(parameters, broker)
    await client.mustHold({ client: digest(client.id), auth: 'private_key_jwt' })
    return client.id
  }
  const named = authorization === undefined ? [{ id: id ?? '', secret: secret! }] : fromBasic(authorization)
  const client = named.find((named) => (id === undefined || id === named.id) && knows(known, named))
  if (client === undefined) throw refusal('invalid_client', 'The client id or its secret is wrong', 401)
  return client.id
}

/**
 * Both parts are encoded as in a form ([RFC 6749 §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)), but
 * many clients encode nothing, as the MCP SDK. Only `+` and `%` make a difference.
 */
function fromBasic (authorization: string): readonly Named[] {
  const [, encoded = ''] = /^Basic ([\w+/]+=*)$/i.exec(authorization) ?? []
  const [, id, secret] = /^([^:]+):(.+)$/.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  if (id === undefined || secret === undefined) return []
  return [{ id, secret }, { id: decoded(id), secret: decoded(secret) }]
}

function decoded (part: string): string {
  return new URLSearchParams(`part=${part.replaceAll('&', '%26')}`).get('part')!
}

/** Compares with every secret, so that the time tells nothing. */
function knows (clients: readonly AssertionClient[], { id, secret }: Named): boolean {
  const proof = hash(secret)
  return clients.flatMap((client) => client.secrets.map((own) => timingSafeEqual(hash(own), proof) && client.id === id))
    .includes(true)
}

function hash (text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
