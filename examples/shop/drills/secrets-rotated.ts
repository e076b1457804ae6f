import { spawnSync } from 'node:child_process'
import pg from 'pg'
import { startPayStandIn } from 'pay-reconcile/testing'
import { run } from '../src/commands/run.ts'
import { bearer } from '../test/build.ts'
import { startPostgres } from '../test/postgres.ts'
import { call } from '../test/process.ts'
import { startRedis, withoutRedis } from '../test/redis.ts'
import { type Id, secretOf, settingsOf } from '../test/secret-lists.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

const PAY_KEY = 'sk_test_drill'
const SCRAPES = 'Prometheus is never refused'
const PAYS = 'The stored payment key works at every replica in every step'

/**
 * Each step: the lists of all replicas, and the secret that Prometheus, the roles of the database and Redis have then.
 */
const STEPS: ReadonlyArray<readonly [lists: readonly Id[], own: Id]> = [[['old', 'next'], 'old'], [
  ['next', 'old'],
  'next'
], [['next'], 'next']]

export const secretsRotated: Drill = {
  name: 'secrets-rotated',
  title: 'Every secret is replaced',
  done: 'All secrets are replaced in the [three steps](settings.md#replace-a-secret), in the second also the role ' +
    'of the database and the password of Redis. Replicas restart one after the other.',
  may: { statuses: [], pause: 2, recovers: 5 },
  holds: [SCRAPES, PAYS],
  without: () => withoutServers || withoutRedis,
  async run (t) {
    const provider = await startPayStandIn({ accounts: { [PAY_KEY]: {} }, log: () => {} })
    t.teardown(provider.close)
    const [redis, postgres] = [await startRedis(t), await startPostgres(t)]
    // As settings.md says; two passwords of Redis are valid meanwhile.
    spawnSync('redis-cli', [
      '-u',
      redis.url,
      'ACL',
      'SETUSER',
      'shop',
      'on',
      '~*',
      '&*',
      '+@all',
      `>${secretOf('old', 'redis')}`,
      `>${secretOf('next', 'redis')}`
    ])
    const admin = new pg.Client({ connectionString: postgres.superuser })
    await admin.connect()
    await admin.query('create role shop_next login in role shop; alter role shop_next set role shop')
    await admin.end()
    const settingsIn = (lists: readonly Id[], own: Id): Record<string, string> => ({
      PAY_API_URL: provider.url,
      OAUTH_BROKER: 'true',
      OAUTH_BROKER_DOCUMENTS: 'false',
      OAUTH_BROKER_ASSERTION_ISSUERS: provider.url,
      ...settingsOf(lists, 'agent'),
      DATABASE_URL: own === 'old' ? postgres.url : postgres.url.replace('shop@', 'shop_next@'),
      REDIS_URL: redis.url.replace('redis://', `redis://shop:${secretOf(own, 'redis')}@`)
    })
    const at = await exercise(t, { url: postgres.url, settings: settingsIn(['old'], 'old') })
    const statuses = { scrapes: new Set<number>(), pays: new Set<number>() }
    await call('PUT', `${at.baseUrl}/shops/${at.shop}/pay/key`, {
      headers: at.machine,
      body: { pay_secret_key: PAY_KEY }
    })
    const look = async (own: Id): Promise<void> => {
      for (const { baseUrl } of at.replicas) {
        statuses.scrapes.add((await fetch(`${baseUrl}/metrics`, { headers: bearer(secretOf(own, 'metrics')) })).status)
        statuses.pays.add(
          (await call('POST', `${baseUrl}/shops/${at.shop}/pay/key/verify`, { headers: at.machine })).status
        )
      }
    }

    let sent: Id = 'old'
    for (const [lists, own] of STEPS) {
      for (const replica of at.replicas) {
        await at.stop(replica, 'SIGTERM')
        await at.replace(replica, settingsIn(lists, own))
        await at.serve()
        await look(sent)
      }
      sent = own
      if (own === 'next' && lists.length === 2) {
        await run(['reseal'], { ...at.idp.settings, PUBLIC_BASE_URL: 'http://localhost', ...settingsIn(lists, own) })
      }
    }
    at.mended()
    await look('next')
    await at.untilReplicas('ready')
    await at.serve()
    at.hold(SCRAPES, [...statuses.scrapes].join() === '200')
    at.hold(PAYS, [...statuses.pays].join() === '200')
    return await at.end()
  }
}
