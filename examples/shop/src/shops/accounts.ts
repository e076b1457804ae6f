import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { Uuid } from '../http/schemas.ts'
import { accountRepository } from './account-repository.ts'
import { Account, AccountChanges, AccountInput, list } from './account-schemas.ts'
import { recordRoutes } from '../records/routes.ts'

/** The customers of a shop. */
export const accounts: FastifyPluginAsync<{ readonly knex: Knex }> = async (app, { knex }) =>
  recordRoutes(app, {
    one: 'account',
    several: 'accounts',
    id: Uuid('The account'),
    schemas: { Input: AccountInput, Changes: AccountChanges, Record: Account },
    list,
    repository: accountRepository(knex),
    operations: {
      list: {
        operationId: 'list_accounts',
        summary: 'List accounts',
        description: 'List the accounts of a shop, a page at a time.'
      },
      create: {
        operationId: 'create_account',
        summary: 'Create an account',
        description: 'Create an account. The first checkout creates its customer at the payment provider.'
      },
      get: { operationId: 'get_account', summary: 'Get an account', description: 'Get one account of a shop.' },
      update: {
        operationId: 'update_account',
        summary: 'Update an account',
        description: 'Change some fields of an account; those left out stay as they are. ' +
          'details is merged: keys given are set, keys given as null are removed, all others stay.'
      },
      delete: {
        operationId: 'delete_account',
        summary: 'Delete an account',
        description: 'Delete an account. Its orders stay, without an account; so does its customer at the payment ' +
          'provider. It can be restored from the history.'
      }
    },
    mayConflict: false
  })
