import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { callerOf } from '../access/caller.ts'
import { readProblems, writeProblems } from '../http/problem.ts'
import { ShopParams } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { ShopScope } from '../access/scope.ts'
import { requireAdmin } from '../users/require-admin.ts'
import { type Limited, limitsOf, type StoredLimits, updateLimits } from './limits.ts'
import { usageByKey, usageSince } from './report.ts'
import { KeyUsage, KeyUsageParams, LimitChanges, Limits, ShopUsage, UsageQuery } from './schemas.ts'

interface UsageOptions {
  readonly knex: Knex
  /** What is counted here and not stored yet, and what others count. */
  readonly tally: { readonly flush: () => Promise<void>, readonly exchange: () => Promise<void> }
}

/** How much a shop and its API keys are used by day, and how much they may be. */
export const usage: FastifyPluginAsyncTypebox<UsageOptions> = async (app, { knex, tally }) => {
  const inShop = ShopScope.authorize(knex)
  const adminOnly = requireAdmin(knex)

  app.get('/shops/:shop_id/usage', {
    preParsing: inShop,
    schema: {
      operationId: 'get_shop_usage',
      summary: 'Count the calls, writes and imports of a shop by day',
      description: 'How much API keys and members used a shop on each day, how much they may, and which keys used it ' +
        'today. Calls of admins and machines, and reads of the shop, its settings, members and history, do not ' +
        'count. ' +
        'Calls on other replicas may be missing for a minute, or for seconds where there is a limit.',
      tags: ['history'],
      params: ShopParams,
      querystring: UsageQuery,
      response: { 200: ShopUsage, ...readProblems }
    }
  }, async ({ shop, query }) => {
    await tally.flush()
    return { ...await usageSince(knex, ofShop(shop), query.since), keys: await usageByKey(knex, shop.id) }
  })

  // Whoever sees the keys of the shop sees how much they are used.
  app.get('/shops/:shop_id/api-keys/:key_id/usage', {
    preParsing: inShop,
    schema: {
      operationId: 'get_api_key_usage',
      summary: 'Count the calls, writes and imports of an API key by day',
      description: 'How much an API key was used on each day, and how much it may be.',
      tags: ['history'],
      params: KeyUsageParams,
      querystring: UsageQuery,
      response: { 200: KeyUsage, ...readProblems }
    }
  }, async ({ shop, params, query }) => {
    await tally.flush()
    return await usageSince(knex, ofKey(shop, params), query.since)
  })

  app.get('/shops/:shop_id/limits', {
    preParsing: inShop,
    schema: {
      operationId: 'get_shop_limits',
      summary: 'Get the daily limits of a shop',
      description: 'How many calls, writes and imports a day the API keys and members of a shop may make together.',
      tags: ['shops'],
      params: ShopParams,
      response: { ...readRecord(Limits), ...readProblems }
    }
  }, async ({ shop }, reply) => sendRecord(reply, await limitsOf(knex, ofShop(shop))))

  app.patch('/shops/:shop_id/limits', {
    preParsing: [adminOnly, inShop],
    schema: {
      operationId: 'update_shop_limits',
      summary: 'Set the daily limits of a shop',
      description:
        'Set how many calls, writes and imports a day the API keys and members of a shop may make together; ' +
        'null removes a limit, and those left out stay as they are. Admins only.',
      tags: ['shops'],
      params: ShopParams,
      headers: IfMatch,
      body: LimitChanges,
      response: { 200: Limits, ...changedMeanwhile(Limits), ...writeProblems }
    }
  }, async (request, reply) => sendRecord(reply, await update(request, ofShop(request.shop), request.body)))

  app.get('/shops/:shop_id/api-keys/:key_id/limits', {
    preParsing: inShop,
    schema: {
      operationId: 'get_api_key_limits',
      summary: 'Get the daily limits of an API key',
      description: 'How many calls, writes and imports a day may be made with an API key.',
      tags: ['shops'],
      params: KeyUsageParams,
      response: { ...readRecord(Limits), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await limitsOf(knex, ofKey(shop, params))))

  app.patch(
    '/shops/:shop_id/api-keys/:key_id/limits',
    {
      preParsing: [adminOnly, inShop],
      schema: {
        operationId: 'update_api_key_limits',
        summary: 'Set the daily limits of an API key',
        description:
          'Set how many calls, writes and imports a day may be made with an API key; null removes a limit, and ' +
          'those left out stay as they are. A successor of the key has the same limits. Admins only.',
        tags: ['shops'],
        params: KeyUsageParams,
        headers: IfMatch,
        body: LimitChanges,
        response: { 200: Limits, ...changedMeanwhile(Limits), ...writeProblems }
      }
    },
    async (request, reply) =>
      sendRecord(reply, await update(request, ofKey(request.shop, request.params), request.body))
  )

  /** This process knows the new limits at once; others with their next exchange. */
  async function update (
    request: FastifyRequest,
    limited: Limited,
    changes: Static<typeof LimitChanges>
  ): Promise<StoredLimits> {
    const limits = await updateLimits(knex, callerOf(request), limited, changes, preconditionOf(request))
    await tally.exchange()
    return limits
  }
}

function ofShop ({ id }: ShopScope): Limited {
  return { shopId: id, keyId: null }
}

function ofKey ({ id }: ShopScope, { key_id: keyId }: Static<typeof KeyUsageParams>): Limited {
  return { shopId: id, keyId }
}
