import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Knex } from 'knex'
import { readProblems, refusals } from '../http/problem.ts'
import { ShopParams } from '../http/schemas.ts'
import { ShopScope } from '../shops/scope.ts'
import { requireAdmin } from '../users/require-admin.ts'
import { toolCallsSince } from './report.ts'
import { type ToolCalls, ToolCallsQuery, ToolCallsReport } from './schemas.ts'
import type { Tally } from './tally.ts'

const DAY = 86_400_000

interface ToolCallsOptions {
  readonly knex: Knex
  readonly tally: Tally
}

/** How agents use the tools: calls, errors and durations. */
export const toolCalls: FastifyPluginAsyncTypebox<ToolCallsOptions> = async (app, { knex, tally }) => {
  async function report (shopId: string | null, since = new Date(Date.now() - DAY).toISOString()): Promise<ToolCalls> {
    // The calls of the last minute, as far as they came to this process.
    await tally.flush()
    return await toolCallsSince(knex, shopId, new Date(since).toISOString())
  }

  app.get('/shops/:shop_id/tool-calls', {
    preParsing: ShopScope.authorize(knex),
    schema: {
      operationId: 'get_tool_calls',
      summary: 'Count the tool calls of a shop',
      description: 'How often each tool was called in a shop, how many calls failed, and how long they took, since a time. Calls on other replicas may be missing for a minute.',
      tags: ['history'],
      params: ShopParams,
      querystring: ToolCallsQuery,
      response: { 200: ToolCallsReport, ...readProblems }
    }
  }, async ({ shop, query }) => await report(shop.id, query.since))

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
  }, async ({ query }) => await report(null, query.since))
}
