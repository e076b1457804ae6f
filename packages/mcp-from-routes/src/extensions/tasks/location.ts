import { attempt } from '../../attempt.ts'
import { REST, type PathPart } from '../../tool/path.ts'

/** Where the response came from that has the `Location`. */
export interface Origin {
  /** The hosts that are this app, with their ports. */
  readonly hosts: readonly string[]
  /** Path and query string of the request. */
  readonly url: string
  /** The longest path parameter that the router takes, in characters. */
  readonly maxParamLength: number
}

/** The longest `Location` that is read, in characters. */
const MAX_LENGTH = 4096
/** What URL parsers repair or skip: spaces, control characters and backslashes. */
const REPAIRED = /[\s\\\p{Cc}]/u
const SURROGATE = /\p{Surrogate}/u

/**
 * The parameters with which a `Location` leads to a route.
 *
 * Only they are kept of it, and the path is built from them again, as that of a tool call is. So a handler that puts
 * what a caller sent into the header leads nowhere but to that one route, and the router's own answer is compared to
 * them.
 *
 * @param parts - the path of the route, whose parameters are whole segments
 * @returns undefined if it leads anywhere else: to another host, another path, or with a query string or a fragment
 */
export function paramsFromLocation (
  location: unknown,
  parts: readonly PathPart[],
  { hosts, url, maxParamLength }: Origin
): ReadonlyMap<string, string> | undefined {
  if (typeof location !== 'string' || location === '' || location.length > MAX_LENGTH || REPAIRED.test(location)) {
    return undefined
  }
  const base = `http://${hosts[0]}${url}`
  if (!URL.canParse(location, base)) return undefined
  const { protocol, host, username, password, pathname, search, hash } = new URL(location, base)
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '' || search !== '' || hash !== '') {
    return undefined
  }
  if (!hosts.some((own) => isSameHost(own, host))) return undefined
  const wanted = segmentsOf(parts)
  const given = pathname.split('/')
  if (given.length !== wanted.length) return undefined
  const params = new Map<string, string>()
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] as string
    if (typeof segment === 'string') {
      if (text !== segment) return undefined
      continue
    }
    const value = attempt(() => decodeURIComponent(text))
    if (
      value === undefined || value === '' || value === '.' || value === '..' || value.length > maxParamLength ||
      SURROGATE.test(value)
    ) return undefined
    params.set(segment.param, value)
  }
  return params
}

type Segment = string | { readonly param: string }

/** The segments of a path; a parameter is a whole one. */
function segmentsOf (parts: readonly PathPart[]): readonly Segment[] {
  const segments: Segment[] = ['']
  for (const part of parts) {
    if ('param' in part) {
      segments[segments.length - 1] = { param: part.param }
      continue
    }
    // Texts start with a slash: at the start of the path, and after each parameter.
    segments.push(...encodeURI(part.text).split('/').slice(1))
  }
  return segments
}

/** Whether each parameter is all that stands between two slashes. */
export function hasWholeSegments (parts: readonly PathPart[]): boolean {
  return parts.every((part, index) => {
    if ('text' in part) return true
    const [before, after] = [parts[index - 1], parts[index + 1]]
    const starts = before !== undefined && 'text' in before && before.text.endsWith('/')
    return starts && !part.optional && part.param !== REST &&
      (after === undefined || ('text' in after && after.text.startsWith('/')))
  })
}

/** A URL leaves out the port that its protocol has anyway. */
function isSameHost (own: string, host: string): boolean {
  return URL.canParse(`http://${own}`) &&
    (new URL(`http://${own}`).host === host || new URL(`https://${own}`).host === host)
}
