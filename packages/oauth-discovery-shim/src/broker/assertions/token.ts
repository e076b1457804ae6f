import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { SignJWT } from 'jose'
import { ownIssuer } from '../../metadata.ts'
import type { Broker } from '../broker.ts'
import { digest } from '../digest.ts'
import { required, type Parameters } from '../parameters.ts'
import { refusal } from '../refusal.ts'
import { assertionFrom, TOLERANCE, type Assertion } from './assertion.ts'
import { confidentialClient } from './client.ts'
import { ALGORITHM, signingKey } from './keys.ts'

/**
 * An assertion becomes an access token of this server, once. There is no refresh token: the client gets another
 * assertion, so that the organization decides again.
 *
 * @see [RFC 9068 §2](https://www.rfc-editor.org/rfc/rfc9068#section-2)
 */
export async function exchangeAssertion (
  request: FastifyRequest,
  parameters: Parameters,
  { clients, tokenLifetime, keys, trusted }: NonNullable<Broker['assertions']>,
  broker: Broker
): Promise<object> {
  const { store, target, settings } = broker
  const client = await confidentialClient(request.headers.authorization, parameters, clients, broker)
  const own = ownIssuer(settings)
  const assertion = await assertionFrom(required(parameters, 'assertion'), trusted, {
    client,
    audience: own,
    resources: [target.resource, `${target.resource}/`]
  })
  const { subject, name } = personFrom(assertion, settings.issuer)
  // Tokens of machines have their client as the subject, RFC 9068 §5.
  if (subject === client) throw refusal('invalid_grant', 'The assertion was refused: its sub is the client')
  // Of the provider, which must not name the people of other issuers either.
  if (assertion.subject === subject && subject.includes('#') && trusted.has(subject.slice(0, subject.indexOf('#')))) {
    throw refusal('invalid_grant', 'The assertion was refused: its sub is that of a person of another issuer')
  }
  const scope = scopeFrom(assertion.scopes, parameters.get('scope'), target.scopes)

  // Last: who cannot use the assertion cannot use it up.
  const left = Math.ceil(assertion.expires - Date.now() / 1000) + 2 * TOLERANCE
  const { raised } = await store.raise(`id-jag:${digest(`${assertion.issuer} ${assertion.id}`)}`, 1, left)
  if (!raised) throw refusal('invalid_grant', 'The assertion was refused: it was used before')

  const [newest] = keys
  const now = Math.floor(Date.now() / 1000)
  const expiresIn = tokenLifetime / 1000
  const token = await new SignJWT({
    client_id: client,
    ...scope !== '' && { scope },
    ...name !== undefined && { preferred_username: name }
  })
    .setProtectedHeader({ typ: 'at+jwt', alg: ALGORITHM, kid: newest!.id })
    .setIssuer(own).setAudience(target.resource).setSubject(subject).setJti(randomUUID())
    .setIssuedAt(now).setExpirationTime(now + expiresIn)
    .sign(signingKey(newest!, settings.publicBaseUrl))
  request.log.info({ client, subject, issuer: assertion.issuer }, 'an assertion was exchanged for an access token')
  return { access_token: token, token_type: 'Bearer', expires_in: expiresIn, scope, resource: target.resource }
}

/**
 * A person of the identity provider is the same one as after a browser sign-in, whose tokens know no address for a
 * name. The people of other issuers get subjects of their own: no issuer can name somebody of another one.
 */
function personFrom (
  { issuer, subject, username, email }: Assertion,
  provider: string
): { readonly subject: string, readonly name: string | undefined } {
  return issuer === provider
    ? { subject, name: username }
    : { subject: `${issuer}#${encodeURIComponent(subject)}`, name: username ?? email }
}

/**
 * What the issuer allows, the client wants and this server has.
 *
 * @throws a {@link refusal} `invalid_scope` if nothing is left of what the issuer allows
 */
function scopeFrom (allowed: readonly string[], wanted: string | undefined, known: readonly string[]): string {
  const names = wanted?.split(' ')
  const granted = known.filter((scope) => allowed.includes(scope) && (names === undefined || names.includes(scope)))
  if (granted.length === 0 && allowed.length > 0) {
    throw refusal('invalid_scope', `The assertion and the request have no scope in common with: ${known.join(' ')}`)
  }
  return granted.join(' ')
}
