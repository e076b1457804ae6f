import { openPostgres } from '../src/database/index.ts'
import { install, type Installation, type InstallationOptions, written } from '../test/installation.ts'
import { startNginx, withoutNginx } from '../test/nginx.ts'
import { withoutPostgres } from '../test/postgres.ts'
import type { Running } from '../test/process.ts'
import type { Scope } from '../../../test/scope.ts'
import { type Load, startWriting } from '../test/writers.ts'
import { type Found, HEALTHY, NOTHING_LOST } from './drill.ts'
import { figuresFrom } from './figures.ts'
import { probe, type Probes } from './probes.ts'
import { until } from './until.ts'

/** Why there can be no exercise here, else false. */
export const withoutServers = withoutPostgres || withoutNginx

/** How long a drill waits for anything at most, in seconds. */
const LONGEST = 90

/** Two replicas behind nginx, and their callers. */
export interface Exercise extends Installation {
  /** Of nginx. */
  readonly baseUrl: string
  readonly probes: Probes
  /**
   * Who calls: agents by tools with an API key, programs by REST with the same key, and others by REST with a token.
   */
  readonly loads: Readonly<Record<'agents' | 'programs' | 'tokens', Load>>
  /** Waits until all callers had some more successes. @param more - each; default 30 */
  serve(more?: number): Promise<void>
  /** Waits until all replicas say that they are ready, or another thing that they lack. */
  untilReplicas(say: string): Promise<void>
  /** Ends a replica. */
  stop(replica: Running, signal: NodeJS.Signals): Promise<void>
  /** Starts one in its place, also in the list. */
  replace(replica: Running, settings?: Readonly<Record<string, string>>, folder?: URL): Promise<Running>
  /** Notes that the cause is over. */
  mended(): void
  /** Notes whether something holds. */
  hold(what: string, isSo: boolean): void
  /** What replicas printed. */
  output(): string
  /** Ends the calls. @returns the acknowledged writes that the database at the URL does not have, with when that was */
  lostAt(url: string): Promise<ReadonlyMap<string, number>>
  /** Ends the calls. @param url - of the database, if it is another one by now; none if writes may be lost */
  end(url?: string | null): Promise<Found>
}

/** Starts it on an empty database, and waits until all callers are served. */
export async function exercise (t: Scope, options: Omit<InstallationOptions, 'replicas'>): Promise<Exercise> {
  const installed = await install(t, { ...options, replicas: 2 })
  const { shop, headers, machine } = installed
  const replicas = [...installed.replicas]
  const { baseUrl } = await startNginx(t, replicas.map((replica) => replica.baseUrl))
  const probes = probe(t)
  const printed = replicas.map(({ output }) => output)
  for (const replica of replicas) probes.watch(replica.baseUrl)
  const tags = `${baseUrl}/shops/${shop}/tags`
  const loads = {
    // nginx lets a caller use tools 20 times a second.
    agents: startWriting(`${baseUrl}/mcp`, headers, { writers: 2, pause: 150, tool: 'create_tag' }),
    programs: startWriting(tags, headers, { writers: 4, pause: 20 }),
    tokens: startWriting(tags, machine, { writers: 4, pause: 20 })
  }
  const all = Object.values(loads)
  t.teardown(async () => {
    await Promise.all(all.map(async (load) => {
      await load.end()
    }))
  })
  const held = new Map<string, boolean>()
  let mended = performance.now()

  const at: Exercise = {
    ...installed,
    replicas,
    baseUrl,
    probes,
    loads,
    async serve (more = 30) {
      const wanted = all.map((load) => load.acknowledged.size + more)
      await until(
        `${more} more calls of each kind succeed`,
        LONGEST,
        () => all.every((load, index) => load.acknowledged.size >= wanted[index]!)
      )
    },
    async untilReplicas (say) {
      await until(
        `all replicas say ${say}`,
        LONGEST,
        () => replicas.every((replica) => probes.latest(replica.baseUrl).includes(say))
      )
    },
    async stop (replica, signal) {
      probes.leave(replica.baseUrl)
      await replica.stop(signal)
    },
    async replace (ended, settings = {}, folder) {
      const replica = await installed.add({ PORT: new URL(ended.baseUrl).port, ...settings }, folder)
      replicas[replicas.indexOf(ended)] = replica
      printed.push(replica.output)
      probes.watch(replica.baseUrl)
      return replica
    },
    mended () {
      mended = performance.now()
    },
    hold: (what, isSo) => {
      held.set(what, (held.get(what) ?? true) && isSo)
    },
    output: () => printed.map((output) => output()).join('\n'),
    async lostAt (url) {
      await Promise.all(all.map(async (load) => {
        await load.end()
      }))
      const database = openPostgres(url)
      const kept = await written(database)
      await database.close()
      return new Map(all.flatMap((load) => [...load.acknowledged]).filter(([name]) => !kept.has(name)))
    },
    async end (url = options.direct ?? options.url) {
      await Promise.all(all.map(async (load) => {
        await load.end()
      }))
      if (url !== null) held.set(NOTHING_LOST, (await at.lostAt(url)).size === 0)
      held.set(HEALTHY, probes.unhealthy.length === 0)
      return { figures: figuresFrom(all, mended, probes.unready), held, output: at.output() }
    }
  }
  await at.untilReplicas('ready')
  await at.serve()
  return at
}
