// npm run partitions: moves a database with the demo's data to partitions by shop, calls every route and tool on it and
// on a copy without partitions, and compares the answers. PostgreSQL tells the plan of each statement that the server
// ran, those of triggers and foreign keys as well, and so how many partitions it read. Exits with 1 if an answer
// differs, or if a statement reads several partitions that is not in the table below. It needs a PostgreSQL server
// (TEST_DATABASE_URL, as a superuser) with auto_explain.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inScope } from '../drills/scope.ts'
import { type Database, openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { idOf } from '../src/samples/id.ts'
import { demoShops } from '../src/samples/shops.ts'
import { seedDemo } from '../src/samples/seed.ts'
import { keyRing } from '../src/pay/key-ring.ts'
import { createDatabase } from '../test/build.ts'
import { bodySchemaOf, callOf, openFurnished, paramsOf, pathTo, type Request } from '../test/furnished.ts'
import { bodyFromSchema } from '../test/sample.ts'
import type { Scope } from '../../../test/scope.ts'
import { partition, schemas } from './partition.ts'
import { notMeasured } from './shop.ts'

/** How long all may take, in seconds. */
const LIMIT = 1200

const SHOP = idOf(demoShops[0]!.slug)

/** Statements that may read several partitions, and why. */
const OVER_ALL: ReadonlyArray<readonly [text: RegExp, why: string]> = [
  [
    /limit 0\)|^select "id" from "accounts" limit|inner join "shops" as s on "s"."id" = "a"."shop_id" limit \$1$/,
    'a start of the server looks whether the tables are there'
  ],
  [
    new RegExp(
      '^delete from "(imports" where ("status"|"id" in)' +
        '|(daily_usage|tool_calls|key_calls|failed_calls|key_clients)" where )'
    ),
    'what is old is deleted in all shops, every hour'
  ],
  [/^select "daily_limits"/, 'the limits of all shops are read, every few seconds'],
  [/^select id, shop_id from imports where status in/, 'the import whose turn it is, of all shops, every 3 s'],
  [/"user_id" = |user_id = cast|actor->>'id'|OPERATOR\(pg_catalog.=\) "user_id"/, 'what a person has in all shops'],
  [/^select ("tool"|"hour"), sum\(calls\)/, 'statistics of all shops, for admins'],
  [
    /count\(\*\)\)::text as record from "accounts" as "a"$|order by a.id asc limit/,
    'accounts of all shops, for admins'
  ],
  [/where "?a"?."id" = \$1|"accounts" where "id" in/, 'pay-reconcile finds an account by its id'],
  [/^update orders set part_bytes/, 'reads one, by the shop of the lines; here none had changed its size'],
  [/^select \* from "imports" where "status" in \(\$1, \$2\)$/, 'this program waits for imports']
]

/** A statement, with how many partitions of one table its plans had at most, and how many of those were read. */
interface Statement {
  planned: number
  read: number
  readonly tables: Set<string>
  readonly during: Set<string>
}

const statements = new Map<string, Statement>()
let doing = ''

interface Plan {
  readonly Schema?: string
  readonly 'Relation Name'?: string
  readonly 'Actual Loops'?: number
  readonly Plans?: readonly Plan[]
  readonly 'Target Tables'?: readonly Plan[]
}

/** All parts of a plan. */
function* nodesOf (plan: Plan): Generator<Plan> {
  yield plan
  for (const part of [...plan.Plans ?? [], ...plan['Target Tables'] ?? []]) yield* nodesOf(part)
}

function hear (message: string): void {
  if (!message.includes('plan:')) return
  const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(message.indexOf('{'))) as {
    readonly 'Query Text': string,
    readonly Plan: Plan
  }
  const nodes = [...nodesOf(plan)].filter(({ Schema: schema = '' }) => schemas.includes(schema))
  if (nodes.length === 0) return
  const seen: Statement = statements.get(text) ?? { planned: 0, read: 0, tables: new Set(), during: new Set() }
  statements.set(text, seen)
  seen.during.add(doing)
  for (const table of new Set(nodes.map((node) => node['Relation Name']!))) {
    const planned = nodes.filter((node) => node['Relation Name'] === table)
    // Not the targets of a change: PostgreSQL opens them all, and scans tell which rows are read.
    const [all, read] = [planned, planned.filter((node) => (node['Actual Loops'] ?? 0) > 0)].map((some) =>
      new Set(some.map(({ Schema: schema }) => schema)).size
    ) as [number, number]
    seen.planned = Math.max(seen.planned, all)
    seen.read = Math.max(seen.read, read)
    if (all > 1) seen.tables.add(table)
  }
}

/** @returns what every call answers, by its name */
async function exercise (t: Scope, database: Database): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  doing = 'start'
  const checked = {
    teardown: (work: () => unknown) => {
      t.teardown(work)
    },
    fail: (message: unknown) => {
      throw new Error(String(message))
    }
  }
  const { requests, furnish, prepare, send, tool, settled, knex, app, people: [member, boss], machine } =
    await openFurnished(checked as never, ['member', 'boss'], database)
  const { headers } = boss!
  const { id: category } = await knex('categories').where({ shop_id: SHOP }).orderBy('slug').first('id')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const told = async (
    name: string,
    request: () => ReturnType<typeof send>,
    { isSet = false } = {}
  ): Promise<Awaited<ReturnType<typeof send>>> => {
    doing = name
    const answer = await request()
    const body = withoutChance(answer.body)
    answers.set(
      withoutChance(name),
      CHANCY.test(name)
        ? `${answer.statusCode}`
        : `${answer.statusCode} ${String(answer.headers['content-range'])} ${isSet ? sorted(body) : body}`
    )
    return answer
  }
  for (
    const { route, method, name } of requests.filter(({ route, method }) =>
      method === 'GET' && hasOrders(route) && /^[^:]*(:shop_id[^:]*)?$/.test(route.url)
    )
  ) {
    const url = route.url.replace(':shop_id', SHOP)
    // Those have ids of this run.
    const isSet = { isSet: url === '/admin/users' }
    const { sort, filter } = (route.schema as any).querystring.properties
    const [record = {}] = JSON.parse((await send(method, url, headers)).body)
    const queries = [
      ...sort.enum.map((order: string) => `limit=5&sort=${order}`),
      'skip=5',
      'skip=2000',
      ...Object.entries(filter.properties).map(([field, schema]) =>
        `filter=${encodeURIComponent(JSON.stringify({ [field]: valueOf(schema as never, record[field]) }))}`
      )
    ]
    for (const query of queries) {
      const { headers: { link } } = await told(
        `${name}?${decodeURIComponent(query)}`,
        async () => await send(method, `${url}?${query}`, headers),
        isSet
      )
      if (link !== undefined) {
        await told(
          `${name}?${query}, after`,
          async () => await send(method, `${url}${/<(.*)>/.exec(String(link))![1]}`, headers),
          isSet
        )
      }
    }
  }
  // More than the lines of a shop's usage that are left before they are replaced by their sum. Other shops keep theirs.
  for (let n = 0; n < 80; n++) {
    await told(
      `update a category, ${n}`,
      async () => await send('PATCH', `/shops/${SHOP}/categories/${category}`, headers, { position: n })
    )
  }
  for (const { slug } of demoShops) {
    await told(`categories of ${slug}`, async () => await send('GET', `/shops/${idOf(slug)}/categories`, headers))
  }
  for (const { route, method, name } of requests.filter(({ route }) => /^\/(shops|me|admin)/.test(route.url))) {
    const shop = await furnish()
    if (pathTo(route, shop) === undefined) continue
    await prepare(name, shop)
    const { url, body } = callOf(route, shop)
    await knex('shop_members').insert({ shop_id: shop.id, user_id: member!.id, role: 'owner' })
    for (const caller of [boss!, member!]) {
      await told(
        `${name}${caller === member ? ', owner' : ''}`,
        async () => await send(method, url, caller.headers, body),
        { isSet: true }
      )
      await settled()
    }
    if (!route.schema?.tags?.includes('mcp') || method === 'HEAD') continue
    const another = await furnish()
    await told(
      `tool ${(route.schema as any).operationId}`,
      async () =>
        await tool(machine, (route.schema as any).operationId, { ...argumentsOf(route, another), shop_id: another.id }),
      { isSet: true }
    )
    await settled()
  }
  return answers
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

function argumentsOf (route: Request['route'], shop: Parameters<typeof callOf>[1]): object {
  const schema = bodySchemaOf(route)
  return {
    ...schema && bodyFromSchema(schema, shop.values),
    ...Object.fromEntries(paramsOf(route).map((param) => [param, shop.params[param]]))
  }
}

function hasOrders ({ schema }: Request['route']): boolean {
  return (schema?.querystring as any)?.properties?.sort?.enum !== undefined
}

/** A value to filter a field by. */
function valueOf (
  { type, format, items, enum: values, pattern }: Readonly<Record<string, any>>,
  known: unknown
): unknown {
  if (type === 'array') return [known ?? valueOf(items, undefined)].flat()
  if (type === 'object') return known ?? {}
  if (values !== undefined) return values[0]
  if (type === 'boolean') return true
  if (type === 'integer') return 1000
  if (format === 'date-time') return '2026-01-10T00:00:00Z'
  return format === 'uuid' || pattern !== undefined ? SHOP : 'te'
}

/**
 * Lines, and JSON, whose lists are in one order, for records that no other order than that of their random ids tells
 * apart.
 */
function sorted (body: string): string {
  const inOrder = (value: unknown): unknown => {
    if (typeof value === 'string') return value.startsWith('[') ? sorted(value) : value
    if (Array.isArray(value)) return value.map((item) => JSON.stringify(inOrder(item))).sort()
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inOrder(item)]))
      : value
  }
  return body.split('\n').map((line) => /^[[{]/.test(line) ? JSON.stringify(inOrder(JSON.parse(line))) : line).sort()
    .join('\n')
}

const CHANCE = new RegExp(
  [
    /(?<="(?:prefix|after)":")[\w-]{12}(?=")/,
    /(?<="(?:created|p50_ms|p99_ms)":)[\d.]+/,
    /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/,
    /\d{4}-\d\d-\d\dT[\d:.]+Z/,
    /[\w-]{24,}/
  ].map(({ source }) => source).join('|'),
  'g'
)

/**
 * Lists of all shops whose first page depends on random ids, and of people who were made at the same moment: only their
 * status is compared.
 */
const CHANCY = /^GET \/(shops|admin\/(accounts|audit|users.*_at.*))(, owner)?$/

/** Without what no two servers have in common: ids, times and secrets. */
function withoutChance (body: string): string {
  return body.replace(CHANCE, (text) => /^[\d.]+$/.test(text) ? '0' : '?')
}

const server = process.env['TEST_DATABASE_URL']
if (server === undefined) {
  notMeasured('partitions. Set TEST_DATABASE_URL to a PostgreSQL server on which databases may be created')
} else {
  await inScope(LIMIT, async (t) => {
    await compare(t, server)
  })
}

async function compare (t: Scope, server: string): Promise<void> {
  const open = (url: string): Database => {
    const database = openPostgres(url)
    t.teardown(async () => {
      await database.close()
    })
    return database
  }
  const url = await createDatabase(t, server)
  const seeding = openPostgres(url)
  await migrate(seeding)
  await seedDemo(seeding, { payKeys: {}, keys: keyRing([`demo:${'k'.repeat(32)}`]) })
  await seeding.close()
  const copy = await createDatabase(t, server, undefined, `template ${new URL(url).pathname.slice(1)}`)
  const whole = await exercise(t, open(url))

  const moving = openPostgres(copy)
  const { moved, whole: kept } = await partition(moving.knex)
  console.log(
    `${moved.length} tables in ${schemas.length} partitions each: ${moved.join(', ')}; not ${kept.join(', ')}`
  )
  const settings = {
    session_preload_libraries: 'auto_explain',
    client_min_messages: 'log',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_format': 'json',
    'auto_explain.log_verbose': 'on',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_nested_statements': 'on'
  }
  for (const [name, value] of Object.entries(settings)) {
    await moving.knex.raw(
      'alter database ?? set ?? = ??',
      [new URL(copy).pathname.slice(1), name, value].map((text, n) => n === 1 ? moving.knex.raw(text) : text) as never
    )
  }
  await moving.close()
  const { connect } = pg.Client.prototype
  Object.assign(pg.Client.prototype, {
    connect (this: pg.Client, ...args: unknown[]) {
      this.on('notice', ({ message }) => {
        hear(message!)
      })
      return Reflect.apply(connect, this, args)
    }
  })
  const parts = await exercise(t, open(copy))
  await sleep(1000)

  const different = [...whole].filter(([name, answer]) => parts.get(name) !== answer)
  const refused = [...parts.values()].filter((answer) => !answer.startsWith('2')).length
  console.log(`${whole.size} answers, ${different.length} of them different, ${refused} of them refusals`)
  for (const [name, answer] of different) {
    console.log(`  ${name}\n    ${answer.slice(0, 1000)}\n    ${parts.get(name)?.slice(0, 1000)}`)
  }
  const all = [...statements]
  const [atOnce, later] = [
    all.filter(([, { planned }]) => planned === 1),
    all.filter(([text, { planned, read }]) => planned > 1 && read === 1 && text.includes('shop_id'))
  ]
  const many = all.filter((one) => !atOnce.includes(one) && !later.includes(one))
  console.log(
    `${all.length} statements: ${atOnce.length} plan one partition, ${later.length} read one of those that they ` +
      `plan, ${many.length} read several`
  )
  for (const [text, { read, tables, during }] of many) {
    const why = OVER_ALL.find(([pattern]) => pattern.test(oneLine(text)))?.[1]
    if (why === undefined) process.exitCode = 1
    console.log(
      `  ${why ?? 'MISSED'}: ${read} of ${[...tables].join()}, in ${[...during][0]}\n    ${oneLine(text).slice(0, 200)}`
    )
  }
  if (different.length > 0) process.exitCode = 1
}
