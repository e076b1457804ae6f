import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from '../../errors.ts'
import { compileNothing } from '../../compilers.ts'
import type { Broker } from '../broker.ts'
import {
  OAUTH_DISCOVERY_SHIM_NO_GRANT,
  OAUTH_DISCOVERY_SHIM_NO_PERSON,
  OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE
} from '../errors.ts'
import { endGrant, listGrants } from '../schemas.ts'
import { familyKey, lifetimeOf, REVOKED } from '../tokens/refresh-token.ts'
import type { GrantSettings } from './options.ts'
import type { SealedToken } from './record.ts'
import type { AtProvider, Grant, ConnectedApp, GrantStore, OAuthGrants } from './store.ts'

/** A database may refuse other characters. */
const ID = /^[\w-]{1,100}$/

/** What the routes do, and the host may do, too. */
export function grantsOf (store: GrantStore, broker: Broker, appLog: FastifyBaseLogger): OAuthGrants {
  async function available<Value> (work: Promise<Value>, log: FastifyBaseLogger): Promise<Value> {
    try {
      return await work
    } catch (err) {
      log.error({ err }, 'the record of sign-ins failed')
      throw new OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE()
    }
  }

  /** Here it is over already, whatever the provider says. */
  async function atProvider ({ id, providerToken }: Grant): Promise<AtProvider> {
    const sealed = broker.sealer.open<SealedToken>('grant', providerToken)
    return sealed?.id === id ? await broker.provider.revoke(sealed.token) : 'not_told'
  }

  return {
    list: async (subject, log = appLog) => (await available(store.list(subject), log)).map(recordFromGrant),
    async end (subject, id, log = appLog) {
      const grant = ID.test(id) ? await available(store.find(subject, id), log) : undefined
      if (grant === undefined) throw new OAUTH_DISCOVERY_SHIM_NO_GRANT()
      // First: a grant that is still listed can be ended again.
      await broker.store.raise(familyKey(grant.id), REVOKED, lifetimeOf(broker))
      const told = await atProvider(grant)
      await available(store.end(grant.id), log)
      log.info({ client: grant.clientName, subject, atProvider: told }, 'a sign-in was ended')
      return {
        id: grant.id,
        client_name: grant.clientName,
        access_token_expires_at: grant.accessExpiresAt,
        at_provider: told
      }
    }
  }
}

/** `GET` and `DELETE`: which clients a person has let in, and the end of one of them. */
export async function grantRoutes (app: FastifyInstance, settings: GrantSettings, grants: OAuthGrants): Promise<void> {
  const { config } = settings
  compileNothing(app)
  app.addHook('onRequest', async (_, reply) => {
    reply.header('cache-control', 'no-store')
  })

  app.get(
    '/oauth/grants',
    { config, schema: listGrants },
    async (request) => await grants.list(await subjectOf(request, settings), request.log)
  )

  app.delete<{ Params: { id: string } }>(
    '/oauth/grants/:id',
    { config, schema: endGrant },
    async (request) => await grants.end(await subjectOf(request, settings), request.params.id, request.log)
  )
}

/** Whose grants the caller may see and end, as the record names them. */
async function subjectOf (request: FastifyRequest, { whose, subjectClaim, issuer }: GrantSettings): Promise<string> {
  const person = await whose(request) ?? ''
  if (person === '') throw new OAUTH_DISCOVERY_SHIM_NO_PERSON()
  if (typeof subjectClaim === 'function') {
    if (typeof person === 'string') return person
    throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION('grants.whose must return the string that subjectClaim makes')
  }
  if (typeof person === 'string') {
    throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(
      'grants.whose must return { issuer, subject }: ' +
        'at another issuer, the same subject is somebody else'
    )
  }
  if (person.issuer !== issuer || typeof person.subject !== 'string' || person.subject === '') {
    request.log.info({ issuer: person.issuer, expected: issuer }, 'the caller is no person of the identity provider')
    throw new OAUTH_DISCOVERY_SHIM_NO_PERSON()
  }
  return person.subject
}

function recordFromGrant (
  { id, clientId, clientName, scope, createdAt, usedAt, accessExpiresAt, expiresAt }: Grant
): ConnectedApp {
  return {
    id,
    client_id: clientId,
    client_name: clientName,
    scope,
    created_at: createdAt,
    used_at: usedAt,
    access_token_expires_at: accessExpiresAt,
    expires_at: expiresAt
  }
}
