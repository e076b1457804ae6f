import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { callerOf } from '../access/caller.ts'
import { recordChange } from '../records/trail.ts'
import { readProblems } from '../http/problem.ts'
import { Nullable, Uuid } from '../http/schemas.ts'
import { userAdministration } from './administration.ts'
import { requireAdmin } from './require-admin.ts'

const Instant = (description?: string) =>
  Type.Unsafe<Date>({ type: 'string', format: 'date-time', ...(description !== undefined && { description }) })
const AccessExpires = Type.Unsafe<Date | null>({
  anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
  description: 'Until when its last access token works; null if the identity provider does not say'
})

const App = Type.Object({
  id: Type.String(),
  client_id: Nullable(
    Type.String({
      description: 'URL of its metadata document, or an id that the server knows; null if it registered itself'
    })
  ),
  client_name: Type.String({ description: 'What it calls itself' }),
  scope: Type.String(),
  created_at: Instant(),
  used_at: Instant('When it last got an access token'),
  access_token_expires_at: AccessExpires,
  expires_at: Instant('When its refresh token expires')
})

const Ended = Type.Object({
  id: Type.String(),
  access_token_expires_at: AccessExpires,
  at_provider: Type.Unsafe<'revoked' | 'failed' | 'not_told'>({
    type: 'string',
    enum: ['revoked', 'failed', 'not_told'],
    description:
      'Whether the identity provider revoked its own refresh token; not_told: it offers no revocation, or the ' +
      'token is not known'
  })
})

const Params = Type.Object({ user_id: Uuid('The person') })

/** The apps that a person has let in, for admins, who may end them when somebody leaves or loses a device. */
export const connectedApps: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const { oauthGrants: grants } = app
  // Without the broker no client has a refresh token of this server.
  if (grants === undefined) return
  const administration = userAdministration(knex)
  app.addHook('preParsing', requireAdmin(knex))

  app.get('/', {
    schema: {
      operationId: 'list_user_apps',
      summary: 'List the connected apps of a user',
      description: 'List the MCP clients that a person has let in and that still have a refresh token, the last used ' +
        'first. Admins only.',
      tags: ['users'],
      params: Params,
      response: { 200: Type.Array(App), ...readProblems }
    }
  }, async ({ params, log }) => [...await grants.list((await administration.get(params.user_id)).subject, log)])

  app.delete('/:id', {
    schema: {
      operationId: 'disconnect_user_app',
      summary: 'Disconnect an app of a user',
      description:
        'End the sign-in of a client: its refresh token stops working at once, and the identity provider is ' +
        'told, if it can be. An access token works until the time in the response. Admins only.',
      tags: ['users'],
      params: Type.Object({ ...Params.properties, id: Type.String() }),
      response: { 200: Ended, ...readProblems }
    }
  }, async (request) => {
    const { user_id: userId, id } = request.params
    const user = await administration.get(userId)
    const { client_name: name, ...ended } = await grants.end(user.subject, id, request.log)
    await knex.transaction(async (trx) => {
      await recordChange(trx, callerOf(request), {
        shopId: null,
        recordKind: 'user',
        recordId: user.id,
        recordName: user.name,
        before: { connected_app: name },
        after: { connected_app: null }
      })
    })
    return ended
  })
}
