import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { startFreezingProxy } from '../test/freezing-proxy.ts'
import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

/** An address for examples (RFC 5737), which this host has during the drill. */
const ADDRESS = '192.0.2.77'

/** For how long there is no way to it, in milliseconds. */
const GONE = 12_000

const READINESS = '`/readyz` returns 503 within 5 s, and names the database'

const ip = (...args: readonly string[]): boolean => spawnSync('ip', args).status === 0
const add = (): boolean => ip('address', 'add', `${ADDRESS}/32`, 'dev', 'lo')
const remove = (): boolean => ip('address', 'delete', `${ADDRESS}/32`, 'dev', 'lo')

/** Why no address can be added here, else false. */
function withoutAddress (): string | false {
  const added = add()
  if (added) remove()
  return !added && 'no address can be added to this host'
}

export const postgresUnreachable: Drill = {
  name: 'postgres-unreachable',
  title: 'There is no way to the host of PostgreSQL',
  done: 'For 12 s no route leads to the host of PostgreSQL. Connections stay open, and new ones get `EHOSTUNREACH`.',
  may: { statuses: [503], pause: 30, recovers: 20 },
  holds: [READINESS],
  logs: ['"needed":"database"'],
  without: () => withoutServers || withoutAddress(),
  async run (t) {
    const { url } = await startPostgres(t)
    add()
    t.teardown(() => {
      ip('route', 'delete', 'unreachable', ADDRESS)
      remove()
    })
    const proxy = await startFreezingProxy(t, url, ADDRESS)
    const at = await exercise(t, { url: proxy.url, direct: url })
    remove()
    if (!ip('route', 'add', 'unreachable', ADDRESS)) throw new Error('the way to the host could not be cut')
    await sleep(5000)
    at.hold(READINESS, at.replicas.every(({ baseUrl }) => at.probes.latest(baseUrl).startsWith('database: ')))
    await sleep(GONE - 5000)
    ip('route', 'delete', 'unreachable', ADDRESS)
    if (!add()) throw new Error('the way to the host could not be opened again')
    at.mended()
    await at.untilReplicas('ready')
    await at.serve()
    return await at.end()
  }
}
