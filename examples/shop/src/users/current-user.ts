import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { PARENT_REQUEST } from 'mcp-from-routes'
import { SHOP_USER_INACTIVE } from '../errors.ts'
import { provisionUser } from './repository.ts'
import type { User } from './user.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The calling person, as in the database on this request; null for keys, machines and public routes. */
    currentUser: User | null
  }
}

/**
 * A `preParsing` hook, so that it runs after every `onRequest` hook and thus the authentication, and before a body is read.
 * It looks up the person of a token, and creates them at their first one.
 *
 * @throws {@link SHOP_USER_INACTIVE}
 */
export function knowCurrentUser (knex: Knex) {
  return async (request: FastifyRequest): Promise<void> => {
    const { identity } = request
    if (identity?.kind !== 'user' || request.currentUser !== null) return
    const parent = request.raw[PARENT_REQUEST]
    // The same object, not only the same person: then it is the same external request, which looked them up.
    request.currentUser = parent?.identity === identity && parent.currentUser !== null
      ? parent.currentUser
      : await provisionUser(knex, identity.subject, identity.username)
    if (!request.currentUser.active) throw new SHOP_USER_INACTIVE()
  }
}
