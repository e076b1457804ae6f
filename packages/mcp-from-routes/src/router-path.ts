import { partsFromPath } from './path.ts'
import type { PathParam, PathPart } from './path.ts'
import type { Router } from './router.ts'

/** How the router spells paths. */
type Spelling = Pick<Router, 'caseSensitive' | 'ignoreDuplicateSlashes' | 'ignoreTrailingSlash'>

/** A path as it stands in the router. */
export interface RouterPath {
  /** With patterns, but without the names of parameters: the router has no two of one method with the same. */
  readonly unnamed: string
  /** With names, but without patterns: all that the router tells of where a request leads. */
  readonly unpatterned: string
  /** `unnamed` by what the router decides on in turn: a character, the rest of a segment from its first parameter on, or `*`. */
  readonly nodes: readonly string[]
  /** `unnamed` between its slashes. */
  readonly segments: readonly string[]
}

/** Stands for a parameter; it cannot be in a URL. */
const PARAM = '\0'

/**
 * The paths in the router of a route: two, if its last parameter is optional.
 * @returns none for a path that the plugin cannot read
 */
export function routerPaths (url: string, spelling: Spelling): readonly RouterPath[] {
  // A wildcard ends the path.
  const end = url.endsWith('*') ? '*' : ''
  const parts = partsFromPath(url.slice(0, url.length - end.length))
  if (typeof parts === 'string') return []
  const isOptional = parts.some((part) => 'param' in part && part.optional)
  return (isOptional ? [true, false] : [true]).map((whole) => {
    // Within a pattern a slash ends no segment.
    const unnamed = spelt(parts, end, whole, ({ pattern }) => pattern.replaceAll('/', '\x01'), spelling)
    const unpatterned = spelt(parts, end, whole, ({ param }) => param, spelling)
    return { unnamed, unpatterned, nodes: unnamed.match(/\0[^/]*|[^]/g) ?? [], segments: unnamed.split('/') }
  })
}

function spelt (parts: readonly PathPart[], end: string, whole: boolean, paramText: (param: PathParam) => string, spelling: Spelling): string {
  let path = ''
  for (const part of parts) {
    if ('text' in part) path += spelling.caseSensitive ? part.text : part.text.toLowerCase()
    else if (part.optional && !whole) path = path.replace(/\/$/, '')
    else path += PARAM + paramText(part)
  }
  path += end
  if (spelling.ignoreDuplicateSlashes) path = path.replace(/\/\/+/g, '/')
  if (spelling.ignoreTrailingSlash) path = path.replace(/\/$/, '')
  return path === '' ? '/' : path
}

/** Whether some request for one path is one for the other as well, which may end in a wildcard. */
export function mayMeet ({ segments: mine }: RouterPath, { segments: theirs }: RouterPath): boolean {
  const isOpen = theirs.at(-1)?.endsWith('*')
  if (isOpen ? mine.length < theirs.length : mine.length !== theirs.length) return false
  return theirs.every((segment, i) => {
    const own = mine[i] ?? ''
    if (own.includes(PARAM) || segment.includes(PARAM)) return true
    return segment.endsWith('*') ? own.startsWith(segment.slice(0, -1)) : own === segment
  })
}

/**
 * Whether the router looks at the other path before, or with, one that a request is for: where they part, it goes
 * on with fixed text, else with a parameter that has a pattern, else with one that has none, else with a wildcard.
 */
export function mayPrecede ({ nodes: mine }: RouterPath, { nodes: theirs }: RouterPath): boolean {
  const parting = mine.findIndex((node, i) => node !== theirs[i])
  if (parting === -1) return mine.length === theirs.length
  const [own, other] = [rankOf(mine[parting]), rankOf(theirs[parting])]
  // Of two patterns the router chooses by more than can be told from here.
  return other < own || (other === own && own === PATTERN)
}

const [TEXT, PATTERN, PLAIN, WILDCARD, NOTHING] = [0, 1, 2, 3, 4]

function rankOf (node: string | undefined): number {
  if (node === undefined) return NOTHING
  if (node === '*') return WILDCARD
  if (node === PARAM) return PLAIN
  return node.startsWith(PARAM) ? PATTERN : TEXT
}
