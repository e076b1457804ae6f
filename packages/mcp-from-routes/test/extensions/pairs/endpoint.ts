import { agree, plain, type Answer, type Args, type Era, type Headers } from './client.ts'
import type { RouteName } from '../described.ts'

/** What clients see of one endpoint: objects by names of tools, URIs and calls. */
export type Seen = Record<'greeting' | 'list' | 'call' | 'error', Record<string, any>>

/** Sends a message to the endpoint. */
export type Ask = (method: string, params?: Args, headers?: Headers) => Promise<Answer>

/** The names of tools, which a review may change, and the routes by which they stay known. */
export interface Names {
  readonly routeOf: (name: string) => string
  readonly nameOf: (route: string) => string
}

/** The calls that clients make, by the routes of their tools. */
const CALLS: ReadonlyArray<readonly [route: RouteName, args: Args]> = [
  ['orders', {}],
  ['orders', { fields: ['id'] }],
  ['ship', { id: 1 }],
  ['ship', { id: 1, fields: ['id'] }],
  ['build', {}],
  ['report', { id: '1' }],
  ['other', {}],
  ['extra', {}]
]
/** Those that end in an error. */
const ERRORS: typeof CALLS = [
  ['ship', { id: 'one' }],
  ['ship', { id: 1, wrong: 1 }],
  ['ship', { id: 1, fields: ['nothing'] }],
  ['ship', { id: 9 }],
  ['build', { wrong: 1 }],
  ['report', { id: '9' }]
]
const URIS = ['shop://orders', 'shop://reports/1', 'shop://reports/9', 'ui://shop/page', 'skill://build-it/SKILL.md']

/** Those that a guest may not read. */
const GUEST_URIS = URIS.slice(-2)

const GUEST = { 'x-guest': 'yes' }
const READING: readonly string[] = ['orders', 'report', 'other']

/** @param isSearch - whether its tools are called through those of a search */
export async function seenAt (ask: Ask, era: Era, isSearch: boolean, names: Names): Promise<Seen> {
  const call = caller(ask, isSearch, names)
  const greeting = await ask(era === 'modern' ? 'server/discover' : 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a client', version: '1' }
  })
  return {
    greeting: plain(greeting),
    list: {
      tools: await toolsIn(ask, names),
      toolsForGuest: await toolsIn(ask, names, GUEST),
      resources: await resourcesIn(ask),
      resourcesForGuest: await resourcesIn(ask, GUEST),
      skills: plain(await ask('skills/list')),
      ...isSearch && { found: await foundIn(ask, names), described: await describedIn(ask, names) }
    },
    call: { ...await all(CALLS, call), read: await read(ask, URIS) },
    error: {
      ...await all(ERRORS, call),
      oldName: plain(await ask('tools/call', { name: 'ship', arguments: { id: 9 } })),
      unknown: plain(await ask('tools/call', { name: 'nothing', arguments: {} })),
      guest: plain(await ask('tools/call', { name: 'build', arguments: {} }, GUEST)),
      readByGuest: await read(ask, GUEST_URIS, GUEST),
      unreadable: plain(await ask('resources/read', { uri: 'shop://nothing' })),
      untasked: plain(await ask('tasks/get', { taskId: 'nothing' }))
    }
  }
}

type Call = (route: string, args: Args) => Promise<object>

/** Calls a tool until its result is there: a person says yes, and a task is followed. */
function caller (ask: Ask, isSearch: boolean, { nameOf }: Names): Call {
  return async (route, args) => {
    const through = READING.includes(route) ? 'call_reading_tool' : 'call_writing_tool'
    const message = (args: Args): Args => ({
      name: isSearch ? through : nameOf(route),
      arguments: isSearch ? { name: nameOf(route), arguments: args } : args
    })
    const first = await ask('tools/call', message(args))
    const again = async (args: Args, more: Args): Promise<Answer> =>
      await ask('tools/call', { ...message(args), ...more })
    const agreed = await agree(first, args, again)
    const task = agreed.result?.taskId as string | undefined
    const done = task === undefined ? agreed : await ask('tasks/get', { taskId: task })
    const shown = plain(first)
    return {
      first: shown,
      agreed: agreed === first ? shown : plain(agreed),
      done: done === first ? shown : plain(done)
    }
  }
}

async function all (calls: typeof CALLS, call: Call): Promise<Args> {
  const called: Args = {}
  for (const [route, args] of calls) called[`${route} ${JSON.stringify(args)}`] = await call(route, args)
  return called
}

async function toolsIn (ask: Ask, { routeOf }: Names, headers?: Headers): Promise<Args> {
  const { result, error } = await ask('tools/list', {}, headers)
  const tools = (result?.tools ?? []) as Array<{ name: string }>
  return { ...byName(tools, ({ name }) => routeOf(name)), ...error && { error } }
}

async function resourcesIn (ask: Ask, headers?: Headers): Promise<Args> {
  return {
    ...byUri(plain(await ask('resources/list', {}, headers))),
    ...byUri(plain(await ask('resources/templates/list', {}, headers)))
  }
}

async function read (ask: Ask, uris: readonly string[], headers?: Headers): Promise<Args> {
  const contents: Args = {}
  for (const uri of uris) contents[uri] = plain(await ask('resources/read', { uri }, headers))
  return contents
}

function byName<T> (all: readonly T[], nameOf: (one: T) => string): Args {
  return Object.fromEntries(all.map((one) => [nameOf(one), one]))
}

function byUri ({ result, ...answer }: Record<string, any>): Args {
  const all = (result?.resources ?? result?.resourceTemplates ?? []) as Array<{ uri?: string, uriTemplate?: string }>
  return {
    ...byName(all, ({ uri, uriTemplate }) => String(uri ?? uriTemplate)),
    ...answer.error && { error: answer.error }
  }
}

/** What a search finds, by the route of each tool: its arguments, and what the line says of it. */
async function foundIn (ask: Ask, { routeOf }: Names): Promise<Args> {
  const { result } = await ask('tools/call', {
    name: 'search_tools',
    arguments: { query: 'parcel orders report other extra' }
  })
  const [, ...lines] = String(result?.content[0].text).split('\n')
  return Object.fromEntries(lines.map((line) => {
    const [, name = '', signature = '', says = line] = /^(\w+)\((.*)\) (.*)$/.exec(line) ?? []
    const args = [...signature.matchAll(/(\w+)\??:/g)].map(([, argument]) => argument).sort()
    return [routeOf(name), { name, arguments: args, says }]
  }))
}

async function describedIn (ask: Ask, names: Names): Promise<Args> {
  const found = Object.values(await foundIn(ask, names)) as Array<{ name: string }>
  const described: Args = {}
  for (const { name } of found) {
    const { result } = await ask('tools/call', { name: 'describe_tools', arguments: { names: [name] } })
    described[names.routeOf(name)] = JSON.parse(String(result?.content[0].text))
  }
  return described
}
