import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { SHOP_ADMIN_ONLY } from '../errors.ts'
import { knowCurrentUser } from './current-user.ts'

/**
 * A hook after the authentication: admits people who are active admins in the database on this request, and never
 * machines or API keys.
 *
 * @throws {@link SHOP_USER_INACTIVE} | {@link SHOP_ADMIN_ONLY}
 */
export function requireAdmin (knex: Knex) {
  const know = knowCurrentUser(knex)
  return async (request: FastifyRequest): Promise<void> => {
    await know(request)
    if (request.currentUser?.roles.includes('admin') !== true) throw new SHOP_ADMIN_ONLY()
  }
}
