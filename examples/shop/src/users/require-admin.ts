import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { SHOP_ADMIN_ONLY } from '../errors.ts'
import { knowCurrentUser } from './current-user.ts'

/**
 * An `onRequest` hook behind the authentication: lets in people who are active admins, as the
 * database has them on this request. Machines and API keys are nobody's superuser.
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
