import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { seenBy, type SeenEntries } from '../records/kinds.ts'
import { readProblems } from '../http/problem.ts'
import { ShopParams } from '../http/schemas.ts'
import { isOwner } from '../access/shops-reached.ts'
import { list as accountList } from './account-schemas.ts'
import { configRepository } from './config-repository.ts'
import type { ShopScope } from '../access/scope.ts'

/** How many days are counted, today included. */
const DAYS = 14

/** In milliseconds, and in seconds for time zones: each is a multiple of a quarter of an hour from UTC. */
const DAY = 86_400_000
const QUARTER = 900

const Count = (description: string) => Type.Integer({ description })

const Day = Type.Object({
  day: Type.String({ format: 'date', description: 'In the time zone of the shop' }),
  agents: Count('Changes by API keys'),
  people: Count('Changes by people'),
  others: Count('All other changes')
})

const Summary = Type.Object({
  products: Type.Object({ all: Count('All products'), active: Count('Products on sale'), draft: Count('Drafts') }),
  orders: Type.Object({ all: Count('All orders'), pending: Count('Orders that are not paid') }),
  api_keys: Type.Object({
    active: Count('Keys that work'),
    expiring: Count(`Of those, the ones that expire within ${DAYS} days`)
  }),
  accounts: Type.Object({
    all: Count('All accounts'),
    unlinked: Count('Accounts without a customer at the payment provider')
  }),
  days: Type.Array(Day, {
    description: `The changes in the history that the caller sees, of the last ${DAYS} days, the oldest first`
  })
})

/** The numbers of a shop's start page, in one request. */
export const summary: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const configs = configRepository(knex)

  app.get('/', {
    schema: {
      operationId: 'get_shop_summary',
      summary: 'Count the records of a shop',
      description:
        'How many products, orders, API keys and accounts a shop has, and how much was changed on each of the ' +
        'last days.',
      tags: ['shops'],
      params: ShopParams,
      response: { 200: Summary, ...readProblems }
    }
  }, async (request) => {
    const { shop } = request
    const { time_zone: timeZone } = await configs.get(shop)
    return {
      ...await countsOf(knex, shop),
      days: await daysOf(knex, shop, seenBy(await isOwner(knex, request, shop.id)), timeZone)
    }
  })
}

async function countsOf (knex: Knex, { id: shopId }: ShopScope): Promise<Omit<Static<typeof Summary>, 'days'>> {
  const count = (table: string, narrow: (rows: Knex.QueryBuilder) => void = () => {}): Knex.QueryBuilder =>
    knex(table).where({ shop_id: shopId }).modify(narrow).select(knex.raw('count(*)::integer'))
  const works = (keys: Knex.QueryBuilder): void => {
    keys.whereNull('revoked_at').whereRaw('(expires_at is null or expires_at > now())')
  }
  const { rows: [row] } = await knex.raw(
    'select ? as products, ? as active, ? as draft, ? as orders, ? as pending, ? as keys, ? as expiring, ? as ' +
      'accounts, ? as unlinked',
    [
      count('products'),
      count('products', (rows) => {
        rows.where({ status: 'active' })
      }),
      count('products', (rows) => {
        rows.where({ status: 'draft' })
      }),
      count('orders'),
      count('orders', (rows) => {
        rows.where({ status: 'pending' })
      }),
      count('api_keys', works),
      count('api_keys', (rows) => {
        rows.modify(works).whereRaw(`expires_at < now() + interval '${DAYS} days'`)
      }),
      count('accounts'),
      count('accounts', (rows) => {
        accountList.filters['missing_pay']!.apply(rows, true as never)
      })
    ].map((query) => knex.raw('(?)', [query]))
  )
  return {
    products: { all: row.products, active: row.active, draft: row.draft },
    orders: { all: row.orders, pending: row.pending },
    api_keys: { active: row.keys, expiring: row.expiring },
    accounts: { all: row.accounts, unlinked: row.unlinked }
  }
}

/** Counted by quarters of an hour, whose days the time zone tells. Days without a change are there too. */
async function daysOf (
  knex: Knex,
  { id: shopId }: ShopScope,
  seen: SeenEntries,
  timeZone: string
): Promise<Static<typeof Day>[]> {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const now = Date.now()
  const days = new Map(
    Array.from({ length: DAYS }, (_, n) => format.format(now - (DAYS - 1 - n) * DAY)).map((
      day
    ) => [day, { day, agents: 0, people: 0, others: 0 }])
  )
  const quarter = `(floor(extract(epoch from at) / ${QUARTER}) * ${QUARTER})::bigint`
  const found: ReadonlyArray<{ readonly quarter: string, readonly kind: string, readonly count: number }> = await knex(
    'history'
  ).where({ shop_id: shopId }).whereNot({ action: 'event' }).where('at', '>=', new Date(now - DAYS * DAY).toISOString())
    .modify(seen)
    .groupByRaw('1, 2').select(
      knex.raw(`${quarter} as quarter`),
      'actor_kind as kind',
      knex.raw('count(*)::integer as count')
    )
  for (const { quarter, kind, count } of found) {
    const day = days.get(format.format(Number(quarter) * 1000))
    if (day !== undefined) day[SERIES.get(kind) ?? 'others'] += count
  }
  return [...days.values()]
}

/** Whose changes are counted apart, by their kind of actor. */
const SERIES = new Map<string, 'agents' | 'people'>([['api-key', 'agents'], ['user', 'people']])
