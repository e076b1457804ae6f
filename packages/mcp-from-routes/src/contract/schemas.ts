import { createHash } from 'node:crypto'
import { expanded } from '../schema/compact.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { MIRRORED } from '../schema/dialect.ts'
import { spelledForComparison } from '../schema/spelling.ts'
import { leftBranches } from './branches.ts'
import { gapsBetween } from './containment.ts'
import type { Gap } from './comparison.ts'
import { bare, canonical, documentOf, refersByName, sameDocument } from './document.ts'
import type { Finding } from './finding.ts'
import { namedPairs, type Named, type NamedPair } from './names.ts'

type Side = 'input' | 'output'

/** A finding of one tool. */
export interface Part extends Omit<Finding, 'tool'> {
  /** The listed values that are no longer there. */
  readonly lost?: readonly unknown[]
}

const SAME: Part = { bump: 'patch', path: '', change: 'written differently', why: 'it means the same', certain: true }

/**
 * What changed from one schema of a tool to another. Callers send the arguments that the old one allowed, so the new
 * one must allow them; they rely on the results of the old one, so it must allow all of the new one's.
 */
export function schemaFindings (
  side: Side,
  ...schemas: readonly [before: JsonSchema, after: JsonSchema]
): readonly Part[] {
  const [before, after] = schemas.map(spelledForComparison) as [JsonSchema, JsonSchema]
  if (canonical(before) === canonical(after)) return []
  // Whether a schema is shared under `$defs` or written out says nothing about what is valid. Those that are too large
  // are compared with their references, where more often it cannot be told.
  // So are those that refer into a definition, which would be lost.
  const [old, now] = [before, after].every(refersByName) ? [expanded(before), expanded(after)] : []
  if (old === undefined || now === undefined) return findingsBetween(side, before, after)
  return canonical(old) === canonical(now) ? [{ ...SAME, path: side }] : findingsBetween(side, old, now)
}

function findingsBetween (side: Side, before: JsonSchema, after: JsonSchema): readonly Part[] {
  const pairs = namedPairs(documentOf(before), documentOf(after))
  const defaults = [
    ...defaultFindings(side, pairs ?? []),
    ...contentFindings(side, pairs ?? []),
    ...headerFindings(side, pairs ?? [])
  ]
  if (sameDocument(before, after)) return defaults.length > 0 ? defaults : [textFinding(side, pairs ?? [])]
  const broken = side === 'input' ? gapsBetween(before, after, true) : gapsBetween(after, before)
  const loosened = side === 'input' ? gapsBetween(after, before) : gapsBetween(before, after)
  const gone = nameFindings(side, pairs, broken)
  const named = [...gone, ...branchFindings(side, before, after, gone)]
  const told = [...named, ...defaults]
  const breaking = broken.filter(({ path, keyword }) => !isTold(path, keyword, side, named)).map((gap) =>
    gapFinding(side, gap, 'major')
  )
  const majors = [...told.filter(({ bump }) => bump === 'major'), ...breaking]
  const minors = [
    ...told.filter(({ bump }) => bump !== 'major'),
    ...loosened.map((gap) => gapFinding(side, gap, 'minor'))
  ]
  const places = new Set(majors.map(({ path }) => path))
  const seen = new Set<string>()
  const rest = minors.filter(({ path }) => {
    const isNew = !places.has(path) && !isInside(path, places) && !seen.has(path) && !isInside(path, seen)
    if (isNew) seen.add(path)
    return isNew
  })
  const findings = [...majors, ...rest, ...majors.length === 0 ? joinedFindings(side, before, after, rest) : []]
  return findings.length > 0 ? findings : [{ ...SAME, path: side }]
}

/** Whether what the gap is about has been told by name: an argument that is gone, or new and required. */
function isTold (path: string, keyword: string, side: Side, named: readonly Part[]): boolean {
  const place = placeOf(side, path)
  return named.some((part) =>
    part.bump === 'major' && (part.path === place || (isInside(place, new Set([part.path])) && keyword !== 'required'))
  )
}

function isInside (path: string, places: ReadonlySet<string>): boolean {
  return [...places].some((place) => path.startsWith(place) && /^[.[]/.test(path.slice(place.length)))
}

function placeOf (side: Side, path: string): string {
  if (path === '') return side
  return path.startsWith('[') ? `${side}${path}` : `${side}.${path}`
}

function nameFindings (side: Side, pairs: readonly NamedPair[] | undefined, broken: readonly Gap[]): readonly Part[] {
  if (pairs === undefined) {
    return [{
      bump: 'major',
      path: side,
      change: 'too many properties to compare',
      why: 'some may be gone',
      certain: false
    }]
  }
  return pairs.flatMap((pair) => {
    if (pair.before !== undefined && pair.after !== undefined) return []
    return [pair.after === undefined ? goneFinding(side, pair, pairs) : newFinding(side, pair, pair.after, broken)]
  })
}

function goneFinding (side: Side, pair: NamedPair, pairs: readonly NamedPair[]): Part {
  const heir = pairs.find((other) =>
    other.before === undefined && parentOf(other.path) === parentOf(pair.path) &&
    meaningOf(other.after) === meaningOf(pair.before)
  )
  const renamed = heir === undefined ? '' : `, probably renamed to ${heir.name}`
  const noun = side === 'input' ? 'argument' : 'property'
  const why = side === 'input'
    ? 'calls that pass it are refused, or it is ignored'
    : 'callers that read it find nothing'
  return { bump: 'major', path: placeOf(side, pair.path), change: `${noun} → removed${renamed}`, why, certain: true }
}

function newFinding (side: Side, { path }: NamedPair, { required }: Named, broken: readonly Gap[]): Part {
  const place = placeOf(side, path)
  if (side === 'output') {
    return {
      bump: 'minor',
      path: place,
      change: 'none → new property',
      why: 'callers that do not know it ignore it',
      certain: true
    }
  }
  // It was required before, without being described, so it is not a new requirement.
  if (required && broken.some((gap) => gap.path === path && gap.keyword === 'required')) {
    return {
      bump: 'major',
      path: place,
      change: 'none → new required argument',
      why: 'calls without it, all of them until now, are refused',
      certain: true
    }
  }
  return {
    bump: 'minor',
    path: place,
    change: `none → new ${required ? '' : 'optional '}argument`,
    why: 'calls without it stay as they are',
    certain: true
  }
}

/** What leaves one branch of a union and stays in another. */
function branchFindings (side: Side, before: JsonSchema, after: JsonSchema, gone: readonly Part[]): readonly Part[] {
  if (!/"(anyOf|oneOf)":/.test(canonical(before))) return []
  const told = new Set(gone.filter(({ bump }) => bump === 'major').map(({ path }) => path))
  return leftBranches(documentOf(before), documentOf(after)).map(({ path, certain }) => ({
    path: placeOf(side, path),
    certain
  }))
    .filter(({ path }) => !told.has(path) && !isInside(path, told))
    .map(({ path, certain }) => {
      const noun = side === 'input' ? 'argument' : 'property'
      const why = side === 'input'
        ? 'calls of that branch that pass it are refused, or it is ignored'
        : 'callers that read it there find nothing'
      return { bump: 'major', path, change: `${noun} → removed from a branch of its union`, why, certain }
    })
}

/** What a branch of a union names now and another one did before. */
function joinedFindings (side: Side, before: JsonSchema, after: JsonSchema, told: readonly Part[]): readonly Part[] {
  if (!/"(anyOf|oneOf)":/.test(canonical(after))) return []
  const places = new Set(told.map(({ path }) => path))
  return leftBranches(documentOf(after), documentOf(before)).map(({ path }) => placeOf(side, path)).filter((path) =>
    !places.has(path) && !isInside(path, places)
  ).map((path) => ({
    bump: 'minor',
    path,
    change: `none → new ${side === 'input' ? 'argument' : 'property'} in a branch of its union`,
    why: side === 'input' ? 'calls without it stay as they are' : 'callers that do not know it ignore it',
    certain: true
  }))
}

function parentOf (path: string): string {
  return path.replace(/(\.[^.[]+|^[^.[]+|\["[^"]*"\])$/, '')
}

function meaningOf (named: Named | undefined): string {
  return canonical(named?.schemas.map(bare))
}

/** A default decides what a call means that leaves the argument out; in a result it is only told. */
function defaultFindings (side: Side, pairs: readonly NamedPair[]): readonly Part[] {
  if (side === 'output') return []
  return pairs.flatMap(({ path, kind, before: old, after: now }): readonly Part[] => {
    if (old === undefined || now === undefined || kind === 'other') return []
    const [was, is] = [defaultsOf(old), defaultsOf(now)]
    if (canonical(was) === canonical(is)) return []
    // No call leaves out what every call had to pass.
    if (old.always) {
      return [{
        bump: 'patch',
        path: placeOf(side, path),
        change: `default ${shown(was[0])} → ${shown(is[0])}`,
        why: 'every call had to pass it until now',
        certain: true
      }]
    }
    const certain = was.length > 0 && is.length > 0
    return [{
      bump: 'major',
      path: placeOf(side, path),
      change: `default ${shown(was[0])} → ${shown(is[0])}`,
      why: 'calls that leave it out may mean something else now',
      certain
    }]
  })
}

/** How a string is to be read, which no validator checks: base64 is not hex, and a picture is no text. */
function contentFindings (side: Side, pairs: readonly NamedPair[]): readonly Part[] {
  return pairs.flatMap(({ path, before: old, after: now }) =>
    (['contentEncoding', 'contentMediaType', 'contentSchema'] as const).flatMap((keyword): readonly Part[] => {
      if (old === undefined || now === undefined) return []
      const [was, is] = [old, now].map(({ schemas }) =>
        schemas.flatMap((schema) => keyword in schema ? [schema[keyword]] : [])
      ) as [unknown[], unknown[]]
      if (canonical(was.map(bare)) === canonical(is.map(bare))) return []
      const why = side === 'input'
        ? 'what calls send may be read as something else'
        : 'callers may read what comes as something else'
      return [{
        bump: 'major',
        path: placeOf(side, path),
        change: `${keyword} ${shown(was[0])} → ${shown(is[0])}`,
        why,
        certain: keyword !== 'contentSchema' && was.length > 0 && is.length > 0
      }]
    })
  )
}

/** Clients repeat an argument in a header by the list that they have, which may be minutes old. */
function headerFindings (side: Side, pairs: readonly NamedPair[]): readonly Part[] {
  return pairs.flatMap(({ path, before: old, after: now }): readonly Part[] => {
    const [was, is] = [old, now].map((named) => named?.schemas.find((schema) => MIRRORED in schema)?.[MIRRORED])
    if (side === 'output' || old === undefined || now === undefined || was === is) return []
    return [{
      bump: 'minor',
      path: placeOf(side, path),
      change: `header ${shown(was)} → ${shown(is)}`,
      why: 'clients send it once they have listed the tools again',
      certain: true
    }]
  })
}

function defaultsOf ({ schemas }: Named): readonly unknown[] {
  return schemas.filter((schema) => schema.default !== undefined).map((schema) => schema.default)
}

function textFinding (side: Side, pairs: readonly NamedPair[]): Part {
  const [place] = pairs.filter(({ before: old, after: now }) => canonical(textsOf(old)) !== canonical(textsOf(now)))
  return {
    bump: 'patch',
    path: placeOf(side, place?.path ?? ''),
    change: 'texts changed',
    why: 'they say what it is, not what is allowed',
    certain: true
  }
}

function textsOf (named: Named | undefined): unknown {
  return named?.schemas.map(({ title, description, examples, deprecated, default: fallback }) => ({
    title,
    description,
    examples,
    deprecated,
    default: fallback
  }))
}

function gapFinding (side: Side, { path, keyword, from, to, certain, lost }: Gap, bump: 'major' | 'minor'): Part {
  // A gap leads from what accepts to what refuses. Which of them is the older depends on side and direction.
  const isForward = (side === 'input') === (bump === 'major')
  const [was, is] = isForward ? [from, to] : [to, from]
  return {
    bump,
    path: placeOf(side, path),
    change: listedChange(keyword, lost, isForward) ?? changeOf(keyword, was, is),
    why: bump === 'major' ? WHY[side] : WHY_NOT[side],
    certain: bump === 'minor' || certain,
    ...isForward && keyword === 'enum' && { lost }
  }
}

const WHY: Readonly<Record<Side, string>> = {
  input: 'calls that were valid until now are refused',
  output: 'callers may get values that were impossible until now'
}
const WHY_NOT: Readonly<Record<Side, string>> = {
  input: 'all calls that were valid until now still are',
  output: 'callers get no values that were impossible until now'
}

/** Lists all values that were added or removed, so that callers can find theirs. */
function listedChange (keyword: string, lost: readonly unknown[] | undefined, isForward: boolean): string | undefined {
  return keyword !== 'enum' || lost === undefined
    ? undefined
    : `${lost.map((value) => JSON.stringify(value)).join(', ')} ${isForward ? 'removed' : 'added'}`
}

function changeOf (keyword: string, was: unknown, is: unknown): string {
  if (keyword === 'required') return was === true ? 'required → optional' : 'optional → required'
  if (keyword === 'false') return was === false ? 'not allowed → allowed' : 'allowed → not allowed'
  if (shown(was) === shown(is)) return `${keyword} ${shown(is)}, beside what changed`
  return `${keyword} ${shown(was)} → ${shown(is)}`
}

/** Longest text of one side of a change. */
const SHOWN = 80

export function shown (value: unknown): string {
  if (value === undefined) return 'none'
  const text = JSON.stringify(value)
  // Findings are accepted by their text, so two findings must not have the same text.
  return text.length > SHOWN
    ? `${text.slice(0, SHOWN)}… (${createHash('sha256').update(text).digest('hex').slice(0, 6)})`
    : text
}
