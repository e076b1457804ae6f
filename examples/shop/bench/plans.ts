// npm run plans [-- 100000 20]: whether a page of a list may become slow by chance. PostgreSQL plans by statistics of a
// sample of the rows, and a statement with a name keeps its plan. So each order and each filter of each list is asked
// of a large shop, of one of middle size and of a small one, each first page and the next, and its statements are
// explained over twenty fresh samples, with the values and without them. Rows are counted, and not time. Exits with 1
// if a statement reads more than twice as many rows by one sample than by another, or a page of products reads the
// shop. It needs a PostgreSQL server (TEST_DATABASE_URL, as a superuser).
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import knex from 'knex'
import pg from 'pg'
import { inScope } from '../drills/scope.ts'
import { openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { bearer, build, openIdentityProvider } from '../test/build.ts'
import type { Scope } from '../../../test/scope.ts'
import { fillSales } from './fill-sales.ts'
import { fillShops, settle } from './fill.ts'
import { onDatabase, UNLIMITED } from './shop.ts'

const [SIZE = 100_000, SAMPLES = 20] = process.argv.slice(2).map(Number)
const MIDDLE = { slug: 'middle', products: 5000 }
const SMALL = { shops: 50, products: 200 }
/** How long all may take, in seconds. */
const LIMIT = 3600
/** How much more one sample may read than another: so many rows are nothing, and so many times as many. */
const CHANCE = { rows: 500, times: 2 }
/** The most rows that a page may read, of lists that have an index for each order. */
const MOST: Readonly<Record<string, number>> = { products: 5000 }
const LISTS = ['products', 'orders', 'prices', 'accounts', 'history']
/** Of these, each filter is asked in each order. */
const CROSSED = ['products', 'orders']
const TABLES = [...LISTS, 'product_tags', 'product_categories', 'order_lines', 'shop_usage', 'tags', 'categories']
/** What the planner assumes of a statement with a name: that its values are those of this call, or any. */
const MODES = { custom: 'force_custom_plan', generic: 'force_generic_plan' }
type Mode = keyof typeof MODES

interface Plan {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Loops': number
  readonly 'Actual Rows': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Plan[]
}

/** What the server sends to PostgreSQL. */
interface Statement {
  readonly sql: string
  readonly bindings?: readonly unknown[]
  readonly options?: { readonly name?: string }
}

/** A statement of a page of a list, and how many rows each of its plans read at most. */
interface Explained extends Statement {
  readonly list: string
  readonly page: string
  readonly mode: Mode
  readonly read: Map<string, number>
}

await onDatabase('plans of lists', async (url) => {
  await inScope(LIMIT, async (t) => {
    await measure(t, url)
  })
})

async function measure (t: Scope, url: string): Promise<void> {
  const admin = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  t.teardown(async () => await admin.destroy())
  const database = openPostgres(url)
  t.teardown(async () => await database.close())
  await migrate(database)
  await fillShops(admin, ['large'], SIZE)
  await fillShops(admin, [MIDDLE.slug], MIDDLE.products)
  await fillShops(admin, Array.from({ length: SMALL.shops }, (_, n) => `small-${n}`), SMALL.products)
  await fillSales(admin)
  await settle(admin)
  for (const table of LISTS) await admin.raw('vacuum analyze ??', [table])

  const checked = {
    teardown: (work: () => unknown) => {
      t.teardown(work)
    },
    fail: (message: unknown) => {
      throw new RangeError(String(message))
    }
  }
  const idp = await openIdentityProvider(t)
  const app = await build(checked as never, database, idp, { settings: UNLIMITED })
  const headers = bearer(await idp.machineToken())
  const explained: Explained[] = []
  for (const slug of ['large', MIDDLE.slug, 'small-7']) {
    const { id } = await admin('shops').where({ slug }).first('id')
    for (const list of LISTS) {
      const isCrossed = slug === 'large' && CROSSED.includes(list)
      for await (const [name, query] of queriesOf(app, `/shops/${id}/${list}`, list, headers, isCrossed)) {
        for (const statement of await statementsOf(database.knex, list, async () => await get(app, query, headers))) {
          for (const mode of modesOf(statement)) {
            explained.push({ ...statement, list, page: `${slug} ${list}, ${name}`, mode, read: new Map() })
          }
        }
      }
    }
  }
  console.log(`${new Set(explained.map(({ page }) => page)).size} pages of ${LISTS.length} lists`)

  const session = new pg.Client({ connectionString: url })
  await session.connect()
  t.teardown(async () => await session.end())
  await session.query('set jit = off; set statement_timeout = 0')
  for (let sample = 0; sample < SAMPLES; sample++) {
    for (const table of TABLES) await admin.raw('analyze ??', [table])
    for (const statement of explained) await explain(session, statement)
  }
  report(explained)
}

async function get (app: FastifyInstance, url: string, headers: object): Promise<{ items: any[], next?: string }> {
  const { statusCode, body, headers: { link } } = await app.inject({ url, headers: { ...headers } })
  if (statusCode !== 200) throw new RangeError(`${url} answered ${statusCode}: ${body.slice(0, 500)}`)
  const [, next] = /<\?([^>]*)>/.exec(String(link)) ?? []
  return { items: JSON.parse(body), ...next !== undefined && { next } }
}

/**
 * Each order and each filter of a list, with the page behind it. Each is asked once before, so that its count is known.
 *
 * @param isCrossed - whether each filter is asked in each order, and not in that of the list alone
 */
async function* queriesOf (
  app: FastifyInstance,
  path: string,
  list: string,
  headers: object,
  isCrossed: boolean
): AsyncGenerator<readonly [name: string, url: string]> {
  const { paths } = JSON.parse(readFileSync(new URL('../contract/openapi.json', import.meta.url), 'utf8'))
  const { parameters } = paths[`/shops/{shop_id}/${list}`].get
  const parameter = (name: string) => parameters.find((one: { name: string }) => one.name === name)
  const { enum: sorts, default: own }: { readonly enum: readonly string[], readonly default: string } =
    parameter('sort').schema
  const filters: Readonly<Record<string, object>> = parameter('filter').content['application/json'].schema.properties
  const { items: [sample] } = await get(app, `${path}?limit=1&skip=20`, headers)
  const conditions = Object.keys(filters).map((name) => ({ name, value: valueOf(name, sample, list) }))
    .filter(({ value }) => value !== undefined)
  for (const sort of sorts) {
    for (const condition of [undefined, ...isCrossed || sort === own ? conditions : []]) {
      const filter = condition && `&filter=${encodeURIComponent(JSON.stringify({ [condition.name]: condition.value }))}`
      const url = `${path}?sort=${sort}${filter ?? ''}`
      const { next } = await get(app, url, headers)
      const name = `${condition === undefined ? '' : `${condition.name}, `}sort ${sort}`
      yield [name, url]
      if (next !== undefined && /(^|&)after=/.test(next)) {
        await get(app, `${path}?${next}`, headers)
        yield [`${name}, next page`, `${path}?${next}`]
      }
    }
  }
}

/** What to look for: a word of many records, a bound that half of them keep, or what one record has. */
function valueOf (name: string, sample: Readonly<Record<string, unknown>>, list: string): unknown {
  if (name === 'q') return list === 'products' ? 'thing' : 'Person'
  if (/_[gl]te$/.test(name)) return typeof sample[name.slice(0, -4)] === 'number' ? 500_000 : undefined
  const value = sample[name]
  if (Array.isArray(value)) return typeof value[0] === 'string' ? [value[0]] : undefined
  return value === undefined || (typeof value === 'object' && value !== null) ? undefined : [value]
}

/** The statements on the table that work runs. */
async function statementsOf (on: knex.Knex, table: string, work: () => Promise<unknown>): Promise<Statement[]> {
  const seen: Statement[] = []
  const see = (statement: Statement): void => {
    if (/^(with|select)/.test(statement.sql) && statement.sql.includes(`"${table}"`)) seen.push(statement)
  }
  on.on('query', see)
  await work()
  on.removeListener('query', see)
  return seen
}

/** A statement without a name is planned for its values each time. */
function modesOf ({ options }: Statement): readonly Mode[] {
  return options?.name === undefined ? ['custom'] : ['custom', 'generic']
}

async function explain (session: pg.Client, { sql, bindings = [], mode, read }: Explained): Promise<void> {
  await session.query(`set plan_cache_mode = ${MODES[mode]}`)
  await session.query(`prepare explained as ${sql}`)
  const values = bindings.map((value) => literalOf(session, value)).join(', ')
  const { rows: [row] } = await session.query(
    `explain (analyze, timing off, format json) execute explained${values === '' ? '' : `(${values})`}`
  )
  await session.query('deallocate explained')
  const [{ Plan: plan }] = row['QUERY PLAN']
  const shape = shapeOf(plan)
  read.set(shape, Math.max(read.get(shape) ?? 0, rowsOf(plan)))
}

function literalOf (session: pg.Client, value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return session.escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join()}}`)
  return session.escapeLiteral(String(value))
}

/** Names what tips, and shows what reads most. */
function report (explained: readonly Explained[]): void {
  const bounds = explained.map(({ list, page, mode, read }) => {
    const rows = [...read.values()]
    return { list, page, mode, least: Math.min(...rows), most: Math.max(...rows), plans: read }
  })
  console.table(
    bounds.toSorted((a, b) => b.most - a.most).slice(0, 20).map(({ page, mode, least, most, plans }) => ({
      page,
      mode,
      least,
      most,
      plans: plans.size
    }))
  )
  const chances = bounds.filter(({ least, most }) => most > CHANCE.times * least + CHANCE.rows)
  const whole = bounds.filter(({ list, most }) => most > (MOST[list] ?? Infinity))
  for (const [what, found] of [['BY CHANCE', chances], ['TOO MUCH', whole]] as const) {
    for (const { page, mode, plans } of found) {
      console.log(`${what}: ${page} (${mode})`)
      for (const [shape, rows] of plans) console.log(`  ${rows} rows: ${shape}`)
    }
  }
  console.log(
    `${explained.length} plans of statements over ${SAMPLES} samples, ${SIZE} products: ${chances.length} tip, ` +
      `${whole.length} read too much`
  )
  if (chances.length + whole.length > 0) process.exitCode = 1
}

/** How many rows a plan reads from tables and indexes. */
function rowsOf (plan: Plan): number {
  const isRead = plan['Node Type'].includes('Scan') && !/CTE|Subquery|Function/.test(plan['Node Type'])
  const own = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), isRead ? own * plan['Actual Loops'] : 0)
}

function shapeOf (plan: Plan): string {
  const { 'Node Type': type, 'Index Name': index, Plans: plans = [] } = plan
  const parts = plans.length === 0 ? '' : ` (${plans.map(shapeOf).join(', ')})`
  return `${type}${index === undefined ? '' : ` ${index}`}${parts}`
}
