import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/versions.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { accountRepository } from './account-repository.ts'
import { Account, AccountChanges, AccountInput, list } from './account-schemas.ts'

const AccountParams = Type.Object({ ...ShopParams.properties, account_id: Uuid('The account') })

/** The customers of a shop. */
export const accounts: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = accountRepository(knex)

  app.get('/', {
    schema: {
      operationId: 'list_accounts',
      summary: 'List accounts',
      description: 'List the accounts of a shop, a page at a time.',
      tags: ['accounts'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Account), ...readProblems }
    }
  }, async ({ shop, query }, reply) => sendPage(reply, 'accounts', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'create_account',
      summary: 'Create an account',
      description: 'Create an account. The first checkout creates its customer at the payment provider.',
      tags: ['accounts'],
      params: ShopParams,
      body: AccountInput,
      response: { 201: Account, ...writeProblems }
    }
  }, async ({ shop, body }, reply) => {
    const account = await repository.create(shop, body)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/accounts/${account.id}`), account)
  })

  app.get('/:account_id', {
    schema: {
      operationId: 'get_account',
      summary: 'Get an account',
      description: 'Get one account of a shop.',
      tags: ['accounts'],
      params: AccountParams,
      response: { ...readRecord(Account), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.account_id)))

  app.patch('/:account_id', {
    schema: {
      operationId: 'update_account',
      summary: 'Update an account',
      description: 'Change some fields of an account; those left out stay as they are. ' +
        'details is merged: keys given are set, keys given as null are removed, all others stay.',
      tags: ['accounts'],
      params: AccountParams,
      headers: IfMatch,
      body: AccountChanges,
      response: { 200: Account, ...changedMeanwhile(Account), ...writeProblems }
    }
  }, async (request, reply) => {
    const { shop, params: { account_id: id }, body } = request
    return sendRecord(reply, await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => await repository.update(shop, id, body, on)))
  })

  app.delete('/:account_id', {
    schema: {
      operationId: 'delete_account',
      summary: 'Delete an account',
      description: 'Delete an account. Its orders stay, without an account; so does its customer at the payment provider. It can be restored from the history.',
      tags: ['accounts'],
      params: AccountParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Account), ...writeProblems }
    }
  }, async (request, reply) => {
    const { shop, params: { account_id: id } } = request
    await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => { await repository.remove(shop, id, on) })
    return await reply.code(204).send(null)
  })
}
