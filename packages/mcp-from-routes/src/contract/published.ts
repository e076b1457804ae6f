import { isObject } from '../schema/json-schema.ts'
import { canonical } from './document.ts'
import { MCP_FROM_ROUTES_CONTRACT_UNREADABLE } from './errors.ts'
import type { Finding } from './finding.ts'
import { shown } from './schemas.ts'

/** What clients see of something that they find by its URI, or of a server card by its name. */
export type Published = Readonly<Record<string, unknown>>

/** By URI. */
export type PublishedByUri = ReadonlyMap<string, Published>

/**
 * What there is beside tools, by the key of the file, with the word for one, and whom a change of a field breaks or
 * concerns.
 */
export const KINDS = {
  cards: { one: 'server card', removed: 'catalogs that know it by this name lose it', breaking: {}, minor: {} },
  skills: { one: 'skill', removed: 'clients that load it by its URI fail', breaking: {}, minor: {} },
  resources: {
    one: 'resource',
    removed: 'clients that read it by its URI fail',
    breaking: { mimeType: 'clients that read the old media type find another' },
    minor: { _meta: 'hosts let the view do something else, and may have to admit it again' }
  }
} as const satisfies Record<
  string,
  {
    readonly one: string,
    readonly removed: string,
    readonly breaking: Readonly<Record<string, string>>,
    readonly minor: Readonly<Record<string, string>>
  }
>

/** Values, as text, that many have and that name none of them. */
const EMPTY = ['undefined', '""', '[]']

export type Kind = keyof typeof KINDS

/** @param all - each with its URI */
export function publishedByUri (all: ReadonlyArray<{ readonly uri: string }>): PublishedByUri {
  return new Map(all.map(({ uri, ...published }) => [uri, published]))
}

/** A card, without what differs from release to release, and from one place of the server to another. */
export function cardByName (
  { name, version, remotes, ...card }: Published & { readonly name: string }
): PublishedByUri {
  return new Map([[name, card]])
}

/**
 * What a contract's file says of one kind.
 * @param file - named in errors
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_UNREADABLE}
 */
export function publishedFromJson (json: unknown, kind: Kind, file: string): PublishedByUri {
  if (json === undefined) return new Map()
  if (!isObject(json) || !Object.values(json).every(isObject)) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, `"${kind}" is not an object of objects`)
  }
  return new Map(Object.entries(json as Record<string, Published>))
}

/** The changes of one kind, from one contract to another. */
export function publishedFindings (
  before: PublishedByUri = new Map(),
  after: PublishedByUri = new Map(),
  kind: Kind
): readonly Finding[] {
  const { one, removed, breaking, minor } = KINDS[kind]
  const renames = renamesBetween(before, after)
  const renamed = new Set(renames.values())
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((uri): readonly Finding[] => {
    const [old, now] = [before.get(uri), after.get(uri)]
    const found = (bump: Finding['bump'], path: string, change: string, why: string): Finding => ({
      bump,
      tool: uri,
      path,
      change,
      why,
      certain: true
    })
    if (old === undefined) {
      return renamed.has(uri)
        ? []
        : [found('minor', '', `none → new ${one}`, 'clients that do not know it ignore it')]
    }
    if (now === undefined) {
      const heir = renames.get(uri)
      return [found('major', '', `${one} → ${heir === undefined ? 'removed' : `renamed to ${heir}`}`, removed)]
    }
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((field) =>
      canonical(old[field]) !== canonical(now[field])
    ).map((field) => {
      const broken: unknown = old[field] === undefined ? undefined : Reflect.get(breaking, field)
      const why: unknown = broken ?? Reflect.get(minor, field) ?? 'what is read stays as it is'
      const other = field in minor ? 'minor' : 'patch'
      return found(
        broken === undefined ? other : 'major',
        field,
        `${shown(old[field])} → ${shown(now[field])}`,
        String(why)
      )
    })
  })
}

/** The old URIs of what has another one now: a new one of that description, else with the same calls of a skill. */
function renamesBetween (before: PublishedByUri, after: PublishedByUri): ReadonlyMap<string, string> {
  const gone = [...before].filter(([uri]) => !after.has(uri))
  const added = [...after].filter(([uri]) => !before.has(uri))
  const renames = new Map<string, string>()
  for (const field of ['description', 'calls']) {
    for (const [uri, old] of gone.filter(([one]) => !renames.has(one))) {
      const text = canonical(old[field])
      const heir = added.find(([one, now]) => ![...renames.values()].includes(one) && canonical(now[field]) === text)
      if (heir !== undefined && !EMPTY.includes(text)) renames.set(uri, heir[0])
    }
  }
  return renames
}
