import type { Seen } from './endpoint.ts'
import type { Eras, Observed } from './world.ts'

/** What applications with one extension show, by its name; the name of none is empty. */
type Alone = ReadonlyMap<string, Observed>

/** What an application with both shows if neither knows of the other. */
export function expected (names: readonly [string, string], alone: Alone): Observed {
  const [one, other] = names.map((name) => named(alone.get(name)!, names)) as [Observed, Observed]
  const none = named(alone.get('')!, names)
  const both = merged(haveResources(names) ? withResources(none, one) : none, one, other) as Observed
  // A copy without shared parts, since some of it may be changed.
  return JSON.parse(JSON.stringify({
    ...both,
    set: names.includes('sets') ? inSet(both.main, both.set) : both.set,
    search: names.includes('search') ? throughSearch(both.main, both.search) : both.search
  })) as Observed
}

/** Those that bring resources: with any of them, a URI is unknown, not the method. */
function haveResources (names: readonly string[]): boolean {
  return names.every((name) => ['resources', 'views', 'skills'].includes(name))
}

function withResources (none: Observed, one: Observed): Observed {
  const main = eachEra((era) => {
    const { call, error, ...others } = none.main[era]
    const unknown = (_: unknown, uri: string): unknown => notFound(one.main[era].error, uri)
    return {
      ...others,
      call: { ...call, read: mapped(call.read, unknown) },
      error: { ...error, readByGuest: mapped(error.readByGuest, unknown) }
    }
  })
  return { ...none, main }
}

/** How an endpoint with resources answers a URI that it does not know. */
function notFound ({ unreadable }: Part, uri: string): unknown {
  return JSON.parse(JSON.stringify(unreadable).replaceAll('shop://nothing', uri))
}

/** A review gives a tool another name, wherever it stands. */
function named (seen: Observed, names: readonly string[]): Observed {
  if (!names.includes('review')) return seen
  const text = JSON.stringify(seen)
    .replace(/"name":"ship"/g, '"name":"dispatch"')
    .replace(/(?<=[ "])ship(?= (was not|again|takes|are))/g, 'dispatch')
  const renamed = JSON.parse(text) as Observed
  for (const { tools } of Object.values((renamed.contract as { endpoints?: Part }).endpoints ?? {})) {
    if (!Array.isArray(tools)) continue
    const place = tools.indexOf('ship')
    if (place >= 0) tools[place] = 'dispatch'
    tools.sort()
  }
  return renamed
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The three-way merge of what two change of a third. What both change differently is a conflict, which shows. */
export function merged (none: unknown, one: unknown, other: unknown): unknown {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
  if (same(none, one) || same(one, other)) return other
  if (same(none, other)) return one
  if (isObject(one) && isObject(other)) {
    const before = isObject(none) ? none : {}
    const parts = [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) =>
      [name, merged(before[name], one[name], other[name])] as const
    )
    return Object.fromEntries(parts.filter(([, value]) => value !== undefined))
  }
  return { conflict: [one, other] }
}

/** What of the application is in the set. */
const HELD = {
  routes: ['orders', 'ship', 'build'],
  // The skill shows a call of `build`.
  uris: ['shop://orders', 'ui://shop/page', 'skill://build-it/SKILL.md']
}

/** What a set shows of an application: its tools and resources as they are, and nothing of the others. */
function inSet (main: Eras, set: Eras): Eras {
  return eachEra((era) => {
    const { greeting, list, call, error } = main[era]
    const heldTools = (tools: Part): Part => only(tools, (name) => name === 'error' || HELD.routes.includes(name))
    const heldUris = (uris: Part): Part => only(uris, (uri) => uri === 'error' || HELD.uris.includes(uri))
    const heldCalls = (calls: Part, unheld: Part): Part =>
      mapped(
        calls,
        (value, name) => HELD.routes.includes(name.split(' ')[0]!) || !(name.includes('{')) ? value : unheld[name]
      )
    const heldReads = (reads: Part): Part =>
      mapped(reads, (value, uri) => HELD.uris.includes(uri) ? value : notFound(error, uri))
    return {
      greeting,
      list: {
        tools: heldTools(list.tools),
        toolsForGuest: heldTools(list.toolsForGuest),
        resources: heldUris(list.resources),
        resourcesForGuest: heldUris(list.resourcesForGuest),
        skills: list.skills
      },
      call: { ...heldCalls(call, set[era].call), read: heldReads(call.read) },
      error: { ...heldCalls(error, set[era].error), readByGuest: heldReads(error.readByGuest) }
    }
  })
}

/** What a search shows of it: the same results, by its own tools. */
function throughSearch (main: Eras, search: Eras): Eras {
  return eachEra((era) => {
    const { greeting, list, call, error } = main[era]
    const own = search[era]
    const through = (calls: Part, own: Part): Part =>
      mapped(calls, (value, name) => {
        if (!name.includes('{')) return value
        return /"Unknown tool: /.test(JSON.stringify(value)) ? own[name] : saidThrough(value)
      })
    const tools = only(main.legacy.list.tools, (name) => name in own.list.found || name === 'extra')
    return {
      greeting,
      list: {
        ...list,
        tools: own.list.tools,
        toolsForGuest: own.list.toolsForGuest,
        found: mapped(tools, ({ name, inputSchema, annotations, description }) => ({
          name,
          arguments: Object.keys(inputSchema.properties).sort(),
          says: `${annotations.readOnlyHint ? 'reads' : 'writes'}: ${description.replace(/(?<=\.) .*/, '')}`
        })),
        described: mapped(tools, ({ name, title, description, inputSchema, annotations }) => ({
          name,
          ...title !== undefined && { title },
          callWith: annotations.readOnlyHint ? 'call_reading_tool' : 'call_writing_tool',
          description,
          inputSchema
        }))
      },
      call: through(call, own.call),
      // Clients may also call a tool by its name there.
      error: through(error, own.error)
    }
  })
}

/** How texts tell clients of a search to make a call. */
function saidThrough (value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/call (\w+) again within/g, 'call call_writing_tool with the name $1 again within')
    .replace(
      /Call report in 1 s with (\{.*?\})/g,
      (_, args) => `Call call_reading_tool in 1 s with {\\"name\\":\\"report\\",\\"arguments\\":${String(args)}}`
    )
  return JSON.parse(text)
}

type Part = Record<string, any>

function eachEra (seen: (era: 'legacy' | 'modern') => Seen): Eras {
  return { legacy: seen('legacy'), modern: seen('modern') }
}

function only (part: Part, holds: (name: string) => boolean): Part {
  return Object.fromEntries(Object.entries(part).filter(([name]) => holds(name)))
}

function mapped (part: Part, to: (value: any, name: string) => unknown): Part {
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, to(value, name)]))
}
