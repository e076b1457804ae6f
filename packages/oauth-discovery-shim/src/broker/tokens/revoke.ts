import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Broker } from '../broker.ts'
import { clientOf } from '../clients/authentication.ts'
import { formOf, required } from '../parameters.ts'
import { refusal } from '../refusal.ts'
import { familyKey, lifetimeOf, REVOKED, type RefreshToken } from './refresh-token.ts'

/**
 * `POST`: ends a sign-in, here and at the identity provider. Access tokens work until they expire, so they are refused:
 * a client should not believe that they were revoked.
 *
 * @see [RFC 7009 §2](https://www.rfc-editor.org/rfc/rfc7009#section-2)
 */
export function revokeToken (broker: Broker) {
  const { sealer, provider, store, grants } = broker

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    const parameters = formOf(request)
    const text = required(parameters, 'token')
    const client = clientOf(parameters, broker)
    const token = sealer.open<RefreshToken>('refresh', text)
    if (token === undefined) {
      if (text.split('.').length === 3) {
        throw refusal(
          'unsupported_token_type',
          'Only refresh tokens can be revoked. Access tokens work until they expire'
        )
      }
      // RFC 7009 §2.2: what is not valid needs no revocation
      return reply.code(200).send()
    }
    await client.mustHold(token)
    const { raised } = await store.raise(familyKey(token.family), REVOKED, lifetimeOf(broker))
    if (raised) await provider.revoke(token.token)
    await grants?.ended(token.family)
    return reply.code(200).send()
  }
}
