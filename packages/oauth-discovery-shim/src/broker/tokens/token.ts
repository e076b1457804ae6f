import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JWT_BEARER } from '../../metadata.ts'
import { requireResource } from '../sign-in/authorize.ts'
import type { Broker } from '../broker.ts'
import { CODE_LIFETIME, type Code } from '../sign-in/callback.ts'
import { exchangeAssertion } from '../assertions/token.ts'
import { clientOf, type NamedClient } from '../clients/authentication.ts'
import { digest } from '../digest.ts'
import { formOf, required, type Parameters } from '../parameters.ts'
import { familyKey, lifetimeOf, responseFrom, REVOKED } from './refresh-token.ts'
import { refresh } from './refresh.ts'
import { refusal } from '../refusal.ts'

/**
 * `POST`: a code or a refresh token becomes an access token, which is the identity provider's own. An assertion, if
 * there is the option, becomes one of this server.
 *
 * @see [RFC 6749 §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3),
 *   [§6](https://www.rfc-editor.org/rfc/rfc6749#section-6)
 */
export function issueTokens (broker: Broker) {
  const { assertions } = broker
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    const parameters = formOf(request)
    const grant = required(parameters, 'grant_type')
    const byAssertion = assertions !== undefined && grant === JWT_BEARER
    if (!byAssertion && grant !== 'authorization_code' && grant !== 'refresh_token') {
      throw refusal(
        'unsupported_grant_type',
        `grant_type must be authorization_code or refresh_token${assertions ? `, or ${JWT_BEARER}` : ''}`
      )
    }
    requireResource(parameters, broker.target)
    if (byAssertion) return reply.send(await exchangeAssertion(request, parameters, assertions, broker))
    const client = clientOf(parameters, broker)
    return reply.send(
      grant === 'authorization_code'
        ? await exchange(parameters, client, broker)
        : await refresh(parameters, client, broker, request.log)
    )
  }
}

async function exchange (parameters: Parameters, client: NamedClient, broker: Broker): Promise<object> {
  const { sealer, provider, store, grants, callback, target, settings: { sendResource } } = broker
  const code = sealer.open<Code>('code', required(parameters, 'code'))
  if (code === undefined) {
    await client.mustBeKnown()
    throw refusal('invalid_grant', 'The code is not valid or has expired')
  }
  await client.mustHold(code)
  const redirectUri = parameters.get('redirect_uri')
  if (redirectUri !== undefined && digest(redirectUri) !== code.redirectUri) {
    throw refusal('invalid_grant', 'redirect_uri is not the one that the code was sent to')
  }
  // before the code is marked as used: a thief without the verifier cannot use it up
  if (!provesChallenge(required(parameters, 'code_verifier'), code.challenge)) {
    throw refusal('invalid_grant', 'code_verifier does not match the code')
  }

  const { raised } = await store.raise(`code:${code.family}`, 1, 2 * CODE_LIFETIME)
  if (!raised) {
    // RFC 6749 §4.1.2: a caller with both the code and its verifier may have the tokens, too
    await store.raise(familyKey(code.family), REVOKED, lifetimeOf(broker))
    await grants?.ended(code.family)
    throw refusal('invalid_grant', 'The code was used before')
  }
  const tokens = await provider.tokens({
    grant_type: 'authorization_code',
    code: code.code,
    code_verifier: code.verifier,
    redirect_uri: callback,
    ...sendResource && { resource: target.resource }
  })
  const { family, client: holder, auth, scope: asked } = code
  const scope = tokens.scope ?? asked
  // Without a refresh token there is nothing to end.
  if (tokens.refreshToken !== undefined) await grants?.issued(family, client.id, scope, tokens)
  return responseFrom(tokens, {
    family,
    client: holder,
    auth,
    scope,
    ...asked !== scope && { asked },
    generation: 0,
    token: ''
  }, broker)
}

/** [RFC 7636 §4.6](https://www.rfc-editor.org/rfc/rfc7636#section-4.6) */
function provesChallenge (verifier: string, challenge: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false
  return timingSafeEqual(createHash('sha256').update(verifier).digest(), Buffer.from(challenge, 'base64url'))
}
