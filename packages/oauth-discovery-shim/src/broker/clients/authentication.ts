import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose'
import type { Broker } from '../broker.ts'
import type { ClientAuth } from '../../client-document/client.ts'
import { digest } from '../digest.ts'
import { ASSERTION_ALGORITHMS } from '../options.ts'
import { attempt } from '../../json.ts'
import { ownIssuer } from '../../metadata.ts'
import { required, type Parameters } from '../parameters.ts'
import { isRefusal, refusal, type Refusal } from '../refusal.ts'

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** In seconds: how much clocks may differ, and how long an assertion may be good for. */
const TOLERANCE = 30
const LONGEST = 3600

/** The client of a request for tokens, as its grant has it. */
interface Holder {
  readonly client: string
  readonly auth: ClientAuth
}

/** A client that says who it is. */
export interface NamedClient {
  readonly id: string
  /** @throws a {@link refusal} unless the grant is this client's, and it proves so as the grant requires */
  mustHold(grant: Holder): Promise<void>
  /**
   * For a client whose grant cannot be read.
   *
   * @throws a {@link refusal} `invalid_client` if its registration cannot be read either, so that it registers again
   */
  mustBeKnown(): Promise<void>
}

/**
 * Reads which client a request is from. A public client only says so; what it holds is bound to it, and the proof is
 * the code verifier.
 *
 * @see [RFC 6749 §3.2.1](https://www.rfc-editor.org/rfc/rfc6749#section-3.2.1),
 *   [RFC 7523 §3](https://www.rfc-editor.org/rfc/rfc7523#section-3)
 */
export function clientOf (parameters: Parameters, broker: Broker): NamedClient {
  const assertion = parameters.get('client_assertion')
  if (assertion !== undefined && parameters.get('client_assertion_type') !== TYPE) {
    throw refusal('invalid_client', `client_assertion_type must be ${TYPE}`, 401)
  }
  const id = parameters.get('client_id') ?? subjectOf(assertion) ?? required(parameters, 'client_id')

  return {
    id,
    async mustBeKnown () {
      // documents do not depend on secrets
      if (!id.startsWith('https://')) await broker.clients.find(id)
    },
    async mustHold ({ client, auth }) {
      // The same words for all: nothing is learnt about codes and tokens of others.
      if (digest(id) !== client) throw refusal('invalid_grant', 'The code or token was not issued to this client')
      if (auth === 'none') return
      if (assertion === undefined) {
        throw refusal(
          'invalid_client',
          'This client has to authenticate with private_key_jwt, as its metadata document says',
          401
        )
      }
      await requireAssertion(assertion, id, broker)
    }
  }
}

/** @throws a {@link refusal} `invalid_client` */
async function requireAssertion (
  assertion: string,
  id: string,
  { clients, documents, store, settings: { publicBaseUrl } }: Broker
): Promise<void> {
  const keys = await documents?.keysOf(await clients.find(id))
  try {
    const { payload: { exp, jti } } = await jwtVerify(assertion, createLocalJWKSet(keys as JSONWebKeySet), {
      issuer: id,
      subject: id,
      audience: [ownIssuer({ publicBaseUrl }), `${publicBaseUrl}/oauth/token`, `${publicBaseUrl}/oauth/revoke`],
      algorithms: ASSERTION_ALGORITHMS,
      clockTolerance: TOLERANCE,
      requiredClaims: ['exp', 'jti']
    })
    const left = exp! - Date.now() / 1000
    if (typeof jti !== 'string' || left > LONGEST) {
      throw new Error('jti is not a string, or exp is too far in the future')
    }
    const { raised } = await store.raise(`assertion:${digest(`${id} ${jti}`)}`, 1, Math.ceil(left) + 2 * TOLERANCE)
    if (!raised) throw new Error('it was used before')
  } catch (cause) {
    throw isRefusal(cause) ? cause : Object.assign(refused(), { cause })
  }
}

const refused = (): Refusal =>
  refusal(
    'invalid_client',
    'client_assertion is not a fresh assertion of this client, signed with one of its keys',
    401
  )

/** Who an assertion says that it is of. Nothing is believed yet. */
function subjectOf (assertion: string | undefined): string | undefined {
  const subject: unknown = assertion === undefined ? undefined : attempt(() => decodeJwt(assertion).sub)
  return typeof subject === 'string' ? subject : undefined
}
