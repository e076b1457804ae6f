import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { PARENT_REQUEST } from 'mcp-from-routes'
import { SHOP_USER_INACTIVE } from '../errors.ts'
import { provisionUser } from './repository.ts'
import type { User } from './user.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The person who calls, as the database has them on this request; null for keys, machines and public routes. */
    currentUser: User | null
  }
}

/**
 * A `preParsing` hook, so that it comes behind every `onRequest` hook and thus behind the
 * authentication, and before a body is read: looks up the person of a user token, and makes
 * them known at their first one.
 *
 * @throws {@link SHOP_USER_INACTIVE}
 */
export function knowCurrentUser (knex: Knex) {
  return async (request: FastifyRequest): Promise<void> => {
    const { identity } = request
    if (identity?.kind !== 'user' || request.currentUser !== null) return
    const parent = request.raw[PARENT_REQUEST]
    // The same object, not only the same person: then it is one external request, and was looked up for it.
    request.currentUser = parent?.identity === identity && parent.currentUser !== null
      ? parent.currentUser
      : await provisionUser(knex, identity.subject, identity.username)
    if (!request.currentUser.active) throw new SHOP_USER_INACTIVE()
  }
}
