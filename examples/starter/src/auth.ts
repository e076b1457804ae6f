import { createError } from '@fastify/error'
import { createApiKey, scopesFromRoute, type ApiKeyOptions, type DualAuthOptions } from 'dual-auth'
import { knexStore } from 'dual-auth/knex'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import type { Settings } from './settings.ts'

const NOT_ALLOWED = createError('NOT_ALLOWED', '%s', 403)

/** Routes with the tag `mcp` accept tokens, and API keys of the team in their path. All others accept only tokens. */
export function authOptions (settings: Settings, knex: Knex): DualAuthOptions {
  const { idp, publicBaseUrl: base } = settings
  const isEndpoint = (url: string): boolean => url === '/mcp' || url === '/mcp/'
  const resourceMetadata = `${base}/.well-known/oauth-protected-resource/mcp`
  return {
    apiKeys: keyOptions(settings, knex),
    jwt: idp === undefined
      ? false
      : {
        provider: 'cognito',
        issuer: idp.issuer,
        userClients: [idp.clientId],
        machineClients: idp.machines,
        audience: [base, `${base}/mcp`]
      },
    policy: ({ url, schema }) => isEndpoint(url) ? 'any-key' : (schema?.tags?.includes('mcp') && 'dual') || 'jwt',
    // The endpoint only forwards calls, whose routes check the scopes.
    scopes: (route) => isEndpoint(route.url) ? null : scopesFromRoute(route),
    ...idp !== undefined && { challenge: { resourceMetadata, scope: 'openid email profile' } }
  }
}

function keyOptions ({ pepper: secret }: Settings, knex: Knex): ApiKeyOptions {
  const store = knexStore(knex, { ownerColumn: 'team_id' })
  return { marker: 'starter', peppers: [{ id: '1', secret }], store, ownerParam: 'team_id', ownerIdFromParam: 'uuid' }
}

/** Makes a key that reads and writes the notes of a team. Makes the team, if there is none of this name. */
export async function createKey (settings: Settings, knex: Knex, team: string): Promise<string> {
  const [row] = await knex('teams').insert({ name: team }).onConflict('name').merge().returning('id')
  const key = { ownerId: row.id, name: 'First key', scopes: ['read', 'write'], createdBy: 'command' }
  return (await createApiKey(keyOptions(settings, knex), key)).plaintext
}

/** A person is in the teams whose ids are the person's groups at the identity provider; admins are in all. */
export function isMember ({ identity }: FastifyRequest, team: string): boolean {
  return identity?.kind === 'user' && [team, 'admin'].some((group) => identity.groups.includes(group))
}

/** Refuses people who are not in the team of the path. dual-auth has checked keys; machines may open every team. */
export async function requireMember (request: FastifyRequest): Promise<void> {
  const { team_id: team } = request.params as { readonly team_id?: string }
  if (team === undefined || request.identity?.kind !== 'user' || isMember(request, team)) return
  throw new NOT_ALLOWED('You are not a member of this team')
}

export async function requireAdmin ({ identity }: FastifyRequest): Promise<void> {
  if (identity?.kind !== 'user' || !identity.groups.includes('admin')) throw new NOT_ALLOWED('You are not an admin')
}
