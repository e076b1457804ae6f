import { isObject } from '../schema/json-schema.ts'
import { canonical } from './document.ts'
import { MCP_FROM_ROUTES_CONTRACT_UNREADABLE } from './errors.ts'
import type { Finding } from './finding.ts'
import type { Published, PublishedByUri } from './published.ts'

/** Tools of an endpoint: the named ones, or all that are routes. */
export type Held = 'all' | readonly string[]

/** An endpoint, by the tools that its clients can call. */
export interface ContractEndpoint {
  /** Those that it lists. */
  readonly tools: Held
  /** Those that its clients find by a search instead. Absent without a search. */
  readonly finds?: Held
}

/** By path. */
export type EndpointsByPath = ReadonlyMap<string, ContractEndpoint>

/** A contract, as far as its endpoints are concerned. */
interface Known {
  readonly endpoints?: EndpointsByPath | undefined
  readonly skills?: PublishedByUri
  /** The names of its tools. */
  readonly keys: () => Iterable<string>
}

/** Endpoints, with all tools of their contract, and all skills by the tools that they show. */
interface Served {
  readonly endpoints: EndpointsByPath
  readonly tools: ReadonlySet<string>
  readonly skills: ReadonlyMap<string, readonly unknown[]>
}

/** How clients of an endpoint reach a tool or a skill. */
type Way = 'listed' | 'found by search'

/**
 * What a contract's file says of endpoints.
 * @param file - named in errors
 * @returns undefined for a file that says nothing of them
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_UNREADABLE}
 */
export function endpointsFromJson (json: unknown, file: string): EndpointsByPath | undefined {
  if (json === undefined) return undefined
  if (!isObject(json) || !Object.values(json).every(isEndpoint)) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(
      file,
      '"endpoints" is not an object of objects with "tools" and maybe "finds", each "all" or an array of names'
    )
  }
  return new Map(Object.entries(json as Record<string, ContractEndpoint & Record<string, unknown>>))
}

function isEndpoint (value: unknown): boolean {
  return isObject(value) && isHeld(value.tools) && (value.finds === undefined || isHeld(value.finds))
}

function isHeld (value: unknown): value is Held {
  return value === 'all' || (Array.isArray(value) && value.every((name) => typeof name === 'string'))
}

/**
 * The changes of endpoints. A tool or skill that only one of the contracts has is a finding of its own already.
 * @returns none if one of the contracts does not know its endpoints
 */
export function endpointFindings (before: Known, after: Known): readonly Finding[] {
  const [was, is] = [servedFrom(before), servedFrom(after)]
  if (was === undefined || is === undefined) return []
  const moves = movesBetween(was, is)
  const arrived = new Set(moves.values())
  const paths = new Set([...was.endpoints.keys(), ...is.endpoints.keys()])
  return [...paths].sort().flatMap((path): readonly Finding[] => {
    const found = (bump: Finding['bump'], change: string, why: string): Finding => whole(path, '', bump, change, why)
    if (was.endpoints.has(path) && is.endpoints.has(path)) return insideFindings(path, was, is)
    if (is.endpoints.has(path)) {
      return arrived.has(path)
        ? []
        : [found('minor', 'none → new endpoint', 'clients that do not know it ignore it')]
    }
    const place = moves.get(path)
    return place === undefined
      ? [found('major', 'endpoint → removed', 'clients that connect to it fail')]
      : [found('major', `endpoint → moved to ${place}`, 'clients that connect to the old path fail')]
  })
}

function servedFrom (contract: Known): Served | undefined {
  const { endpoints, skills = new Map<string, Published>() } = contract
  return endpoints && {
    endpoints,
    tools: new Set(contract.keys()),
    skills: new Map([...skills].map(([uri, { calls }]) => [uri, Array.isArray(calls) ? calls : []]))
  }
}

function whole (endpoint: string, path: string, bump: Finding['bump'], change: string, why: string): Finding {
  return { tool: endpoint, bump, path, change, why, certain: true }
}

/** The old paths of endpoints, with the new path of one that has the same tools. */
function movesBetween (was: Served, is: Served): ReadonlyMap<string, string> {
  const added = [...is.endpoints.keys()].filter((path) => !was.endpoints.has(path)).sort()
  const gone = [...was.endpoints.keys()].filter((path) => !is.endpoints.has(path)).sort()
  const moves = new Map<string, string>()
  // Those that are written alike are the same, such as two with all tools; of others, new and removed tools are left
  // out.
  const same = [
    (old: string, now: string) => canonical(was.endpoints.get(old)) === canonical(is.endpoints.get(now)),
    (old: string, now: string) => {
      const ways = toolsAt(old, was, is)
      return ways.size > 0 && canonical([...ways]) === canonical([...toolsAt(now, is, was)])
    }
  ]
  for (const isSame of same) {
    for (const old of gone.filter((path) => !moves.has(path))) {
      const place = added.find((path) => ![...moves.values()].includes(path) && isSame(old, path))
      if (place !== undefined) moves.set(old, place)
    }
  }
  return moves
}

/** How an endpoint's clients reach the tools that the other contract has too, sorted by name. */
function toolsAt (path: string, served: Served, { tools }: Served): ReadonlyMap<string, Way> {
  return new Map([...waysAt(path, served)].filter(([name]) => tools.has(name)).sort(([a], [b]) => a < b ? -1 : 1))
}

/** The skills that an endpoint lists and the other contract has too: those that show calls of its tools only. */
function skillsAt (path: string, served: Served, { skills }: Served): ReadonlyMap<string, Way> {
  const ways = waysAt(path, served)
  const listed = [...served.skills].filter(([uri, calls]) =>
    skills.has(uri) && calls.every((name) => ways.has(String(name)))
  )
  return new Map(listed.map(([uri]) => [uri, 'listed']))
}

function waysAt (path: string, { endpoints, tools }: Served): ReadonlyMap<string, Way> {
  const { tools: listed = [], finds = [] } = endpoints.get(path) ?? {}
  // The tools of a search have no routes: "all" does not mean them.
  const own = new Set([...endpoints.values()].flatMap((one) => one.finds === undefined ? [] : one.tools))
  const namesOf = (held: Held): readonly string[] => held === 'all' ? [...tools].filter((name) => !own.has(name)) : held
  return new Map([
    ...namesOf(finds).map((name) => [name, 'found by search'] as const),
    ...namesOf(listed).map((name) => [name, 'listed'] as const)
  ])
}

/** The tools and skills that leave an endpoint, and those that join it. */
function insideFindings (path: string, was: Served, is: Served): readonly Finding[] {
  const [old, now] = [
    new Map([...skillsAt(path, was, is), ...toolsAt(path, was, is)]),
    new Map([...skillsAt(path, is, was), ...toolsAt(path, is, was)])
  ]
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((name): readonly Finding[] => {
    const [before, after] = [old.get(name), now.get(name)]
    if (before === after) return []
    const found = (bump: Finding['bump'], why: string): Finding => {
      const change = `${before ?? absent(after)} → ${after ?? absent(before)}`
      return whole(path, name, bump, change, why)
    }
    if (before === undefined || after === 'listed') return [found('minor', 'callers that do not know it ignore it')]
    const fail = after === undefined
      ? 'clients of this endpoint that use it fail'
      : 'clients of this endpoint that take it from the list no longer see it'
    return [found('major', `${fail}${elsewhere(name, is)}`)]
  })
}

function absent (other: Way | undefined): string {
  return other === 'listed' ? 'not listed' : 'not found'
}

/** Where clients still find the tool or skill in a list. */
function elsewhere (name: string, is: Served): string {
  const places = [...is.endpoints.keys()].filter((path) =>
    waysAt(path, is).get(name) === 'listed' || skillsAt(path, is, is).has(name)
  ).sort()
  return places.length === 0 ? '' : `; it is still at ${places.join(', ')}`
}
