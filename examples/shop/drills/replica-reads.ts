import pg from 'pg'
import { bearer } from '../test/build.ts'
import type { Postgres } from '../test/postgres.ts'
import type { Exercise } from './exercise.ts'

/** A setting of replicas whose reads are counted. */
export const METRICS_TOKEN = 'metrics-token-of-the-drill'

/** Runs a statement as the superuser. */
export async function run ({ superuser }: Postgres, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: superuser })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

/** How many reads of all replicas had an outcome. */
export async function readsOf ({ replicas }: Exercise, outcome: string): Promise<number> {
  const pages = await Promise.all(
    replicas.map(async ({ baseUrl }) =>
      await (await fetch(`${baseUrl}/metrics`, { headers: bearer(METRICS_TOKEN) })).text()
    )
  )
  return pages.map((page) =>
    Number(new RegExp(`^shop_replica_reads_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(page)![1])
  ).reduce((sum, count) => sum + count)
}
