import type { FastifyInstance, FastifyRequest } from 'fastify'
import { OAUTH_DISCOVERY_SHIM_NO_GRANT, OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE } from '../../errors.ts'
import { compileNothing } from '../../scope.ts'
import type { Broker } from '../broker.ts'
import { endGrant, listGrants } from '../schemas.ts'
import { familyKey, lifetimeOf, REVOKED } from '../tokens/refresh-token.ts'
import type { GrantOptions } from './options.ts'
import type { Grant } from './store.ts'

/** A database may refuse other characters. */
const ID = /^[\w-]{1,100}$/

/** `GET` and `DELETE`: which clients a person has let in, and the end of one of them. */
export async function grantRoutes (app: FastifyInstance, { store, whose, config }: Required<GrantOptions>, broker: Broker): Promise<void> {
  compileNothing(app)
  app.addHook('onRequest', async (_, reply) => { reply.header('cache-control', 'no-store') })

  async function available<Value> ({ log }: FastifyRequest, work: Promise<Value>): Promise<Value> {
    try {
      return await work
    } catch (err) {
      log.error({ err }, 'the record of sign-ins failed')
      throw new OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE()
    }
  }

  app.get('/oauth/grants', { config, schema: listGrants }, async request => {
    const subject = await whose(request)
    return (await available(request, store.list(subject))).map(recordFromGrant)
  })

  app.delete<{ Params: { id: string } }>('/oauth/grants/:id', { config, schema: endGrant }, async request => {
    const { id } = request.params
    const subject = await whose(request)
    const grant = ID.test(id) ? await available(request, store.find(subject, id)) : undefined
    if (grant === undefined) throw new OAUTH_DISCOVERY_SHIM_NO_GRANT()
    // First: a grant that is still listed can be ended again.
    await broker.store.raise(familyKey(grant.id), REVOKED, lifetimeOf(broker))
    await available(request, store.end(grant.id))
    request.log.info({ client: grant.clientName, subject }, 'a sign-in was ended')
    return { id: grant.id, access_token_expires_at: grant.accessExpiresAt }
  })
}

function recordFromGrant ({ id, clientId, clientName, scope, createdAt, usedAt, accessExpiresAt, expiresAt }: Grant): object {
  return { id, client_id: clientId, client_name: clientName, scope, created_at: createdAt, used_at: usedAt, access_token_expires_at: accessExpiresAt, expires_at: expiresAt }
}
