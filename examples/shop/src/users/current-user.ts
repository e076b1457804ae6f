import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { PARENT_REQUEST } from 'mcp-from-routes'
import { SHOP_USER_INACTIVE } from '../errors.ts'
import type { PersonReader } from '../access/person.ts'
import { personLookup } from './repository.ts'
import type { User } from '../access/user.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What a person is known by. */
    personOf: PersonReader
  }
  interface FastifyRequest {
    /** The calling person, as in the database on this request; null for keys, machines and public routes. */
    currentUser: User | null
  }
}

/**
 * A `preParsing` hook, so that it runs after every `onRequest` hook and thus the authentication, and before a body is
 * read. It looks up the person of a token, together with the shop in the path, and creates them at their first token.
 *
 * @throws {@link SHOP_USER_INACTIVE}
 */
export function knowCurrentUser (knex: Knex) {
  const lookUp = personLookup(knex)
  return async (request: FastifyRequest): Promise<void> => {
    const { identity } = request
    if (identity?.kind !== 'user' || request.currentUser !== null) return
    const parent = request.raw[PARENT_REQUEST]
    // The same object, not only the same person: then it is the same external request, which looked them up.
    if (parent?.identity === identity && parent.currentUser !== null) request.currentUser = parent.currentUser
    else {
      const { shop_id: asked } = request.params as { readonly shop_id?: string }
      const { user, shop } = await lookUp(request.server.personOf(identity), identity.username, asked)
      request.currentUser = user
      if (asked !== undefined && shop !== undefined) request.shopOfPerson = { asked, shop }
    }
    if (!request.currentUser.active) throw new SHOP_USER_INACTIVE()
  }
}
