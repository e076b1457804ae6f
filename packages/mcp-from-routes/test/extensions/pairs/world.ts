import { join } from 'node:path'
import type { Test } from 'tap'
import { contractFromApp, textFromContract } from '../../../src/contract/index.ts'
import { build } from '../../build.ts'
import { headersOf, withMeta, type Answer, type Args, type Era, type Headers } from './client.ts'
import type { Described, RouteName } from '../described.ts'
import { seenAt, type Seen } from './endpoint.ts'
import { canUse, routes } from './routes.ts'

/** What is observed of one application. */
export interface Observed {
  readonly main: Eras
  readonly set: Eras
  readonly search: Eras
  readonly contract: unknown
  readonly card: unknown
}
export type Eras = Record<Era, Seen>

/** Each tool by its route, which keeps its place when a review gives it another name. */
const ROUTES: Readonly<Record<string, RouteName>> = {
  'GET /orders': 'orders',
  'POST /parcels': 'ship',
  'POST /reports': 'build',
  'GET /reports/:id': 'report',
  'GET /other': 'other',
  'POST /extra': 'extra'
}
/**
 * What clients of an application with these extensions see.
 * @returns it, and what the extensions' own observers complain about
 */
export async function observe (
  t: Test,
  described: Readonly<Record<string, Described>>
): Promise<{ readonly seen: Observed, readonly complaints: readonly string[], readonly exchanges: number }> {
  const names = Object.keys(described)
  const files = Object.entries(described).map(([name, { files }]) => [name, files?.(names) ?? {}])
  const folder = t.testdir(Object.fromEntries(files) as Parameters<Test['testdir']>[0])
  const made = Object.entries(described).map(([name, { make }]) => make(t, join(folder, name)))
  const complaints: string[] = []
  let exchanges = 0
  const app = await build(t, (app) => routes(app, Object.values(described)), {
    // The other order than that in which they see a route.
    extensions: made.map(({ extension }) => extension).reverse(),
    canUse,
    maxResultBytes: 2000
  })
  await app.ready()
  const routeOf = (name: string): string => {
    const tool = app.mcpTools.find((one) => one.name === name)
    return tool === undefined ? name : ROUTES[`${tool.route.method} ${tool.route.url}`] ?? name
  }
  const nameOf = (route: string): string => app.mcpTools.find(({ name }) => routeOf(name) === route)?.name ?? route

  async function send (path: string, era: Era, method: string, params: Args, more: Headers = {}): Promise<Answer> {
    const { statusCode, payload } = await app.inject({
      method: 'POST',
      url: path,
      headers: { ...headersOf(era, method, params), 'x-api-key': 'ada', ...more },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: withMeta(era, params) })
    })
    const text = payload.split('\n').find((line) => line.startsWith('data: '))?.slice(6) ?? payload
    const { result, error } = JSON.parse(text) as Answer
    exchanges++
    for (const { watch } of made) complaints.push(...[watch?.({ method, params, result, error }) ?? []].flat())
    return { status: statusCode, ...result && { result }, ...error && { error } }
  }

  const at = async (path: string, era: Era): Promise<Seen> =>
    await seenAt(
      async (method, params = {}, more) => await send(path, era, method, params, more),
      era,
      path === '/mcp/search',
      { routeOf, nameOf }
    )
  const erasAt = async (path: string): Promise<Eras> => ({
    legacy: await at(path, 'legacy'),
    modern: await at(path, 'modern')
  })
  const contract = JSON.parse(textFromContract(contractFromApp(app)!)) as { tools: Args }
  const card = await app.inject('/mcp/server-card')
  const nowhere = { legacy: empty(), modern: empty() }
  const seen = {
    main: await erasAt('/mcp'),
    set: names.includes('sets') ? await erasAt('/mcp/set') : nowhere,
    search: names.includes('search') ? await erasAt('/mcp/search') : nowhere,
    contract: {
      ...contract,
      tools: Object.fromEntries(
        Object.entries(contract.tools).map(([name, tool]) => [routeOf(name), { name, ...Object(tool) }])
      )
    },
    card: { status: card.statusCode, body: card.json() as unknown }
  }
  await app.close()
  return { seen, complaints, exchanges }
}

function empty (): Seen {
  return { greeting: {}, list: {}, call: {}, error: {} }
}
