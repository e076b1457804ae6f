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
    if (old === undefined) return [found('minor', '', `none → new ${one}`, 'clients that do not know it ignore it')]
    if (now === undefined) return [found('major', '', `${one} → removed`, removed)]
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((field) =>
      canonical(old[field]) !== canonical(now[field])
    ).map((field) => {
      const broken: unknown = old[field] === undefined ? undefined : Reflect.get(breaking, field)
      const why: unknown = broken ?? Reflect.get(minor, field) ?? 'what is read stays as it is'
      return found(
        broken !== undefined ? 'major' : field in minor ? 'minor' : 'patch',
        field,
        `${shown(old[field])} → ${shown(now[field])}`,
        String(why)
      )
    })
  })
}
