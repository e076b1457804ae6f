// npm run add-column [-- 250000]: adds a column to a million products, or to as many as the argument says, while a
// server reads and writes them, on a PostgreSQL server (TEST_DATABASE_URL, as a superuser). Prints the longest call
// before, during and after the migration, and how long the table was locked. Exits with 1 if a call failed, or if the
// lock was held longer than a second; with 2 if it could not measure.
import { setTimeout as sleep } from 'node:timers/promises'
import knex, { type Knex } from 'knex'
import { Pool } from 'undici'
import { inScope } from '../drills/scope.ts'
import { openPostgres } from '../src/database/index.ts'
import { migrations } from '../src/migrations/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import type { Migration } from '../src/migrations/migration.ts'
import { fillShops, settle } from './fill.ts'
import { launch, notMeasured, onDatabase, type Shop, stop } from './shop.ts'

/** How long all may take, in seconds. */
const LIMIT = 900
/** How long the calls go on before and after the migration, in seconds. */
const BESIDE = 10
/** How long the table may be locked, in milliseconds. */
const MOST = 1000
/** Between two looks for the lock, in milliseconds. */
const LOOK_EVERY = 5
/** How many callers send one call after another, of each kind. */
const CALLERS = 2

const count = Number(process.argv[2] ?? 1_000_000)

/** As the next version would add it. */
const column: Migration = {
  up: async (knex) => {
    await knex.raw('alter table products add barcode text')
  }
}

interface Calls {
  count: number
  longest: number
  readonly failures: Map<string, number>
}

const none = (): Calls => ({ count: 0, longest: 0, failures: new Map() })

await onDatabase('a column that is added under load', async (url) => {
  await inScope(LIMIT, async (t) => {
    const database = openPostgres(url)
    t.teardown(async () => {
      await database.close()
    })
    const watching = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
    t.teardown(async () => {
      await watching.destroy()
    })
    await migrate(database)
    await fillShops(watching, ['large'], count)
    await settle(watching)
    const shop = await launch(url)
    t.teardown(async () => {
      await stop(shop)
    })
    const client = new Pool(shop.address, { connections: 3 * CALLERS })
    t.teardown(async () => {
      await client.destroy()
    })

    const load = await startLoad(client, shop, watching)
    await sleep(BESIDE * 1000)
    const before = load.next()
    const lock = watchLock(watching)
    const start = performance.now()
    await migrate(database, { steps: { ...migrations, '999-column': column } })
    const took = performance.now() - start
    const longest = await lock.stop()
    const during = load.next()
    await sleep(BESIDE * 1000)
    const after = await load.stop()

    console.table({ before: told(before), during: told(during), after: told(after) })
    console.log(
      `${count} products: the migration took ${took.toFixed(0)} ms, and the longest exclusive lock ` +
        (longest === 0 ? `was shorter than ${LOOK_EVERY} ms` : `${longest.toFixed(0)} ms`)
    )
    const failures = [before, during, after].flatMap((phase) => [...Object.values(phase)])
      .flatMap(({ failures: of }) => [...of])
    for (const [what, times] of failures) console.log(`FAILED, ${times} times: ${what}`)
    if (Object.values(before).some((calls) => calls.count === 0)) notMeasured('calls: none was answered')
    else if (failures.length > 0 || longest > MOST) process.exitCode = 1
  })
})

type Phase = Readonly<Record<'read' | 'list' | 'write', Calls>>

function told (phase: Phase): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(phase).flatMap(([kind, calls]) => [
      [`${kind}s`, calls.count],
      [`longest ${kind}, ms`, Math.round(calls.longest)]
    ])
  )
}

/** Reads, lists and writes products of the filled shop until it is stopped. A call belongs to the phase it ends in. */
async function startLoad (client: Pool, shop: Shop, tables: Knex): Promise<{
  /** Begins the next phase. @returns the calls of the one that ends */
  readonly next: () => Phase,
  readonly stop: () => Promise<Phase>
}> {
  const { id } = await tables('shops').where({ slug: 'large' }).first('id')
  const ids: readonly string[] = await tables('products').where({ shop_id: id }).limit(1000).pluck('id')
  const headers = { authorization: `Bearer ${await shop.token()}`, 'content-type': 'application/json' }
  const products = `/shops/${String(id)}/products`
  const any = (): string => `${products}/${ids[Math.floor(Math.random() * ids.length)]!}`
  const phaseOf = (): Phase => ({ read: none(), list: none(), write: none() })
  let phase = phaseOf()
  const over = new AbortController()

  async function callAgain (
    kind: keyof Phase,
    requestOf: (n: number) => Parameters<Pool['request']>[0]
  ): Promise<void> {
    for (let n = 0; !over.signal.aborted; n++) {
      const start = performance.now()
      let failure: string | undefined
      try {
        const { statusCode, body } = await client.request({ ...requestOf(n), headers })
        const text = await body.text()
        if (statusCode > 299) failure = `${kind} ${statusCode} ${text.slice(0, 200)}`
      } catch (error) {
        failure = `${kind} ${String(error)}`
      }
      const calls = phase[kind]
      calls.count += 1
      calls.longest = Math.max(calls.longest, performance.now() - start)
      if (failure !== undefined) calls.failures.set(failure, (calls.failures.get(failure) ?? 0) + 1)
    }
  }

  const running = Promise.all(
    Array.from({ length: CALLERS }, () => [
      callAgain('read', () => ({ method: 'GET', path: any() })),
      callAgain('list', () => ({ method: 'GET', path: `${products}?limit=25&sort=-updated_at` })),
      callAgain('write', (n) => ({ method: 'PATCH', path: any(), body: JSON.stringify({ price_amount: n }) }))
    ]).flat()
  )
  const next = (): Phase => {
    const ended = phase
    phase = phaseOf()
    return ended
  }
  return {
    next,
    stop: async () => {
      over.abort()
      await running
      return next()
    }
  }
}

/** Looks for how long somebody holds the exclusive lock of the table, for which everybody else waits. */
function watchLock (tables: Knex): { readonly stop: () => Promise<number> } {
  const over = new AbortController()
  let longest = 0
  let since: number | undefined
  const running = (async () => {
    while (!over.signal.aborted) {
      const { rows: [{ locked }] } = await tables.raw(
        "select exists (select from pg_locks where relation = 'products'::regclass and mode = 'AccessExclusiveLock' " +
          'and granted) as locked'
      )
      if (locked === true) longest = Math.max(longest, performance.now() - (since ??= performance.now()))
      else since = undefined
      await sleep(LOOK_EVERY)
    }
  })()
  return {
    stop: async () => {
      over.abort()
      await running
      return longest
    }
  }
}
