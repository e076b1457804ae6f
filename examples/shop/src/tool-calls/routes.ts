import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Knex } from 'knex'
import { notFound } from '../errors.ts'
import { readProblems, refusals } from '../http/problem.ts'
import { ShopParams } from '../http/schemas.ts'
import { ShopScope } from '../access/scope.ts'
import { requireAdmin } from '../users/require-admin.ts'
import { callsByKey, keyCallsSince, toolCallsSince } from './report.ts'
import {
  KeyCallsParams,
  KeyCallsQuery,
  KeyCallsReport,
  ShopToolCallsReport,
  ToolCallsQuery,
  ToolCallsReport
} from './schemas.ts'
import type { Tally } from './tally.ts'

/** In milliseconds. */
const DAY = 86_400_000

/** How many days of the calls of a key are reported, unless the caller says so. */
const DAYS = 14

interface ToolCallsOptions {
  readonly knex: Knex
  readonly tally: Tally
}

/** How agents use the tools: calls, errors and durations. */
export const toolCalls: FastifyPluginAsyncTypebox<ToolCallsOptions> = async (app, { knex, tally }) => {
  /** Stores the calls of the last minute, as far as they came to this process. @returns the start of the report */
  async function current (since: string | undefined, days: number): Promise<string> {
    await tally.flush()
    return new Date(since ?? Date.now() - days * DAY).toISOString()
  }

  app.get('/shops/:shop_id/tool-calls', {
    preParsing: ShopScope.authorize(knex),
    schema: {
      operationId: 'get_tool_calls',
      summary: 'Count the tool calls of a shop',
      description:
        'How often each tool was called in a shop, and by each API key, how many calls failed, and how long ' +
        'they took, since a time. Calls on other replicas may be missing for a minute.',
      tags: ['history'],
      params: ShopParams,
      querystring: ToolCallsQuery,
      response: { 200: ShopToolCallsReport, ...readProblems }
    }
  }, async ({ shop, query }) => {
    const since = await current(query.since, 1)
    return { ...await toolCallsSince(knex, shop.id, since), keys: await callsByKey(knex, shop.id, since) }
  })

  // Whoever sees the keys of the shop sees what they were used for.
  app.get('/shops/:shop_id/api-keys/:key_id/calls', {
    preParsing: ShopScope.authorize(knex),
    schema: {
      operationId: 'get_api_key_calls',
      summary: 'Tell what an API key was used for',
      description:
        'How often an API key called each tool since a time, in which clients, and which of its calls failed, ' +
        'with their arguments and answers. Calls on other replicas may be missing for a minute.',
      tags: ['history'],
      params: KeyCallsParams,
      querystring: KeyCallsQuery,
      response: { 200: KeyCallsReport, ...readProblems }
    }
  }, async ({ shop, params, query }) => {
    const report = await keyCallsSince(knex, shop.id, params.key_id, await current(query.since, DAYS))
    if (report === undefined) throw notFound('key', params.key_id)
    return report
  })

  app.get('/admin/tool-calls', {
    preParsing: requireAdmin(knex),
    schema: {
      operationId: 'get_all_tool_calls',
      summary: 'Count the tool calls of all shops',
      description: 'The same of all shops together. Admins only.',
      tags: ['history'],
      querystring: ToolCallsQuery,
      response: { 200: ToolCallsReport, ...refusals }
    }
  }, async ({ query }) => await toolCallsSince(knex, null, await current(query.since, 1)))
}
