// npm run replica [-- seconds [rounds]]: lists a second with and without DATABASE_READ_URL, and what each costs the
// primary and its standby. It starts both itself, and needs PostgreSQL's programs. Two servers on one primary are
// measured in turn; each figure is the median of the rounds. Everything runs on the processors of this machine, so
// lists a second say what the setting costs, and the processor time of the primary what it saves.
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import knex from 'knex'
import { inScope } from '../drills/scope.ts'
import { until } from '../drills/until.ts'
import { startPostgres, withoutPostgres } from '../test/postgres.ts'
import { settle } from './fill.ts'
import { median, type MakeRequest, saturate, warmUp } from './saturation.ts'
import { launch, notMeasured, type Shop, stop, UNLIMITED } from './shop.ts'

const [seconds = 5, rounds = 3] = process.argv.slice(2).map(Number)
/** How long all may take, in seconds. */
const LIMIT = 1800
/** Of the clock that the kernel counts processor time with, in microseconds. */
const TICK = 10_000

/** Queries of lists of products. */
const LISTS: Readonly<Record<string, string>> = {
  'list of 10': 'limit=10',
  'list of 50': 'limit=50',
  'list of 10, filtered and sorted': `limit=10&sort=name&filter=${
    encodeURIComponent('{"status":["draft"],"price_amount_gte":5000}')
  }`,
  'list of 10, q': `limit=10&filter=${encodeURIComponent('{"q":"thing"}')}`
}

/** A row of what is printed; times are microseconds of a processor for each list. */
interface Row {
  readonly '/s': number
  readonly 'p50, ms': number
  readonly node: number
  readonly primary: number
  readonly standby: number
}

if (withoutPostgres) notMeasured(withoutPostgres)
else {
  await inScope(LIMIT, async (t) => {
    const primary = await startPostgres(t)
    const standby = await startPostgres(t, { follows: primary.port })
    const shops: Record<string, Shop> = {
      without: await launch(primary.url),
      with: await launch(primary.url, {
        settings: { ...UNLIMITED, DATABASE_URL: primary.url, DATABASE_READ_URL: standby.url }
      })
    }
    const [db, follower] = [primary, standby].map(({ superuser }) =>
      knex({ client: 'pg', connection: superuser, pool: { min: 0, max: 1 } })
    ) as [ReturnType<typeof knex>, ReturnType<typeof knex>]
    t.teardown(async () => {
      await Promise.all([...Object.values(shops).map(stop), db.destroy(), follower.destroy()])
    })
    const [atPrimary, atStandby] = [await serverOf(db), await serverOf(follower)]
    const figures = new Map<string, Row[]>()
    const requestOf = ({ shopId, key }: Shop, query: string): MakeRequest => () => ({
      method: 'GET',
      path: `/shops/${shopId}/products?${query}`,
      headers: { 'x-api-key': key }
    })
    for (const shop of Object.values(shops)) {
      for (const query of Object.values(LISTS)) await warmUp(shop, requestOf(shop, query))
    }
    for (let round = 0; round < rounds; round++) {
      await settle(db)
      await until('the standby has all', 60, async () => await replayed(db, follower))
      for (const [list, query] of Object.entries(LISTS)) {
        for (const [which, shop] of Object.entries(shops)) {
          const before = [processorTime(atPrimary), processorTime(atStandby)] as const
          const { rate, p50, cpu } = await saturate(shop, requestOf(shop, query), seconds)
          const spent = (server: number, start: number): number =>
            Math.round((processorTime(server) - start) / (rate * seconds))
          const row = {
            '/s': Math.round(rate),
            'p50, ms': p50,
            node: Math.round(cpu),
            primary: spent(atPrimary, before[0]),
            standby: spent(atStandby, before[1])
          }
          const name = `${list}, ${which}`
          figures.set(name, [...figures.get(name) ?? [], row])
        }
      }
    }
    console.log(`${availableParallelism()} processors, load ${loadavg()[0]!.toFixed(1)}`)
    console.table(
      Object.fromEntries(
        [...figures].map((
          [name, rows]
        ) => [
          name,
          Object.fromEntries(
            Object.keys(rows[0]!).map((column) => [
              column,
              median(rows.map((row) => row[column as keyof Row]))
            ])
          )
        ])
      )
    )
  })
}

async function replayed (db: ReturnType<typeof knex>, follower: ReturnType<typeof knex>): Promise<boolean> {
  const { rows: [{ lsn }] } = await db.raw('select pg_current_wal_flush_lsn() as lsn')
  return (await follower.raw('select pg_last_wal_replay_lsn() >= ?::pg_lsn as has', [lsn])).rows[0].has
}

/** The process that starts all others of a server. */
async function serverOf (db: ReturnType<typeof knex>): Promise<number> {
  return Number(statOf((await db.raw('select pg_backend_pid() as pid')).rows[0].pid)[1])
}

/** Of a process: its state, its parent and so on. */
function statOf (pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
}

/** Of all processes of a server, also those that have ended, in microseconds. */
function processorTime (server: number): number {
  const stats = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).flatMap((pid) => {
    try {
      const stat = statOf(Number(pid))
      if (Number(pid) === server) return [stat.slice(11, 15)]
      return Number(stat[1]) === server ? [stat.slice(11, 13)] : []
    } catch {
      return []
    }
  })
  return TICK * stats.flat().reduce((sum, ticks) => sum + Number(ticks), 0)
}
