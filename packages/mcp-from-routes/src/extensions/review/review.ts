import type { FastifySchema, RouteOptions } from 'fastify'
import type { Listing } from '../../tool/listing.ts'
import { definitionOf } from '../../tool/tool.ts'
import type { Candidate } from '../../tool/catalog.ts'
import type { ToolAnnotations } from '../../types.ts'
import { claimFrom, type Found, type ReviewEntry } from './file.ts'
import { descriptionFor, nameFor } from './names.ts'
import { keyOf } from '../../tool/routes.ts'
import { absence } from './reviewed.ts'

/** A review file brought up to date. */
export interface ReviewResult {
  readonly entries: readonly ReviewEntry[]
  /** The routes that had no entry. */
  readonly added: readonly string[]
  /** The entries that were dropped, because the app no longer has their routes. */
  readonly gone: readonly string[]
  /** The entries that were published without a description, and got a guess. */
  readonly undescribed: readonly string[]
}

/** What there is to review. */
export type Reviewable = Pick<Listing, 'listed' | 'earlier' | 'isTagged' | 'read'>

/** A route of the app, before or after the plugin. */
interface Route {
  readonly key: string
  readonly method: string
  readonly url: string
  readonly version: string | undefined
  readonly schema: FastifySchema
  /** Undefined if it was registered before the plugin. */
  readonly candidate: Candidate | undefined
}

/** Brings the entries up to date. What people wrote into them stays. */
export function reviewOf (
  { listed, earlier, isTagged, read }: Reviewable,
  before: readonly ReviewEntry[]
): ReviewResult {
  const routes = [
    ...earlier.map((route) => routeFrom(keyOf(route), route, undefined)),
    ...listed.map((candidate) => routeFrom(candidate.key, { ...candidate.route, url: candidate.url }, candidate))
  ].filter(({ key }) => key !== '').sort((a, b) => {
    const [one, other] = a.url === b.url ? [a.key, b.key] : [a.url, b.url]
    return one < other ? -1 : 1
  })
  const keys = routes.map(({ key }) => key)
  const known = new Map(before.map((entry) => [entry.route, entry]))
  const taken = new Set(before.map(({ name }) => name))
  const added: string[] = []
  // An operationId is the name that the tool of a tagged route has already.
  const fresh = routes.filter(({ key, schema }) => !known.has(key) && (schema.hide !== true || isTagged(schema)))
  const names = new Map<string, string>()
  for (const hasId of [true, false]) {
    for (const { key, schema: { operationId }, ...route } of fresh) {
      if (operationId !== undefined !== hasId) continue
      const name = nameFor({ ...route, operationId }, taken)
      names.set(key, name)
      taken.add(name)
    }
  }
  const entries = routes.flatMap((route): readonly ReviewEntry[] => {
    const { key, schema } = route
    const name = names.get(key)
    const entry = known.get(key) ?? (name === undefined ? undefined : { route: key, publish: isTagged(schema), name })
    if (entry === undefined) return []
    if (!known.has(key)) added.push(key)
    return [reviewed(route, entry, read)]
  })
  const absent = before.filter(({ route }) => !keys.includes(route))
  const missed = absent.filter(({ publish }) => publish).map((entry): ReviewEntry => ({
    ...entry,
    found: { problem: absence(entry.route, keys) }
  }))
  const undescribed = entries.filter(({ route, publish, description }) =>
    publish && description !== undefined && known.has(route) && known.get(route)?.description === undefined
  ).map(({ route }) => route)
  return {
    entries: [...entries, ...missed],
    added,
    undescribed,
    gone: absent.filter(({ publish }) => !publish).map(({ route }) => route)
  }
}

function routeFrom (
  key: string,
  { method, url, schema, constraints }: Pick<RouteOptions, 'method' | 'url' | 'schema' | 'constraints'>,
  candidate: Candidate | undefined
): Route {
  const { version } = constraints ?? {}
  return {
    key,
    method: String([method].flat()[0]),
    url,
    version: typeof version === 'string' ? version : undefined,
    schema: schema ?? {},
    candidate
  }
}

function reviewed (
  route: Route,
  { found: _old, description: written, ...entry }: ReviewEntry,
  read: Reviewable['read']
): ReviewEntry {
  const { key, method, schema, candidate } = route
  const own = candidate?.route.config?.mcp?.description || schema.description || schema.summary
  const isGuess = written === undefined ? !own : written.endsWith(`: ${key}`)
  const guess = own ? undefined : descriptionFor(entry.name, key)
  const description = isGuess ? guess : written
  const full: ReviewEntry = { ...entry, ...description !== undefined && { description } }
  const guessed = [
    ...schema.operationId === undefined &&
        entry.name.startsWith(nameFor({ ...route, operationId: undefined }, new Set()))
      ? ['name' as const]
      : [],
    ...description !== undefined && isGuess ? ['description' as const] : []
  ]
  const remarks = remarksOn(method, schema, candidate)
  return {
    ...full,
    found: {
      ...own && { description: own },
      ...guessed.length > 0 && { guessed },
      ...candidate === undefined
        ? { problem: 'It is registered before mcp-from-routes: register the plugin first, with await' }
        : judged({ ...candidate, claim: { ...candidate.claim, ...claimFrom(full) } }, read),
      ...remarks.length > 0 && { remarks }
    }
  }
}

function judged (candidate: Candidate, read: Reviewable['read']): Found {
  try {
    const tool = read(candidate)
    return {
      hints: hintsOf(tool.public.annotations),
      // Four characters a token: between 3.7 and 4.4 with o200k_base for the tools of the example shop.
      tokens: Math.ceil(JSON.stringify(definitionOf(tool, 'modern')).length / 4)
    }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

function hintsOf ({ readOnlyHint, destructiveHint, idempotentHint }: ToolAnnotations): readonly string[] {
  return [
    ...readOnlyHint ? ['read-only'] : [],
    ...destructiveHint ? ['destructive'] : [],
    ...idempotentHint ? ['idempotent'] : []
  ]
}

function remarksOn (
  method: string,
  { body, consumes }: FastifySchema & { readonly consumes?: readonly string[] },
  candidate: Candidate | undefined
): readonly string[] {
  if (!['POST', 'PUT', 'PATCH'].includes(method) || body !== undefined || consumes !== undefined) return []
  const takesFiles = candidate?.scope.hasContentTypeParser('multipart/form-data') ?? false
  return [
    'It declares no body, so calls send ' +
    `none${takesFiles ? '. Here bodies may be files (multipart/form-data): if it reads one, every call fails' : ''}`
  ]
}
