import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { bare, canonical, type Document } from './document.ts'
import { schemasIn, typesOf, unionsOf } from './facts.ts'
import { everyOther, inItem, inProperty } from './comparison.ts'

/** A property that a branch of a union no longer names, though another branch may. */
export interface LeftBranch {
  readonly path: string
  /** Whether the branch has one successor only, so that no other one may name it. */
  readonly certain: boolean
}

/** One way through the unions of a schema. */
interface Alternative {
  /** What holds at once. */
  readonly facts: readonly JsonSchema[]
  /** What may hold as well: conditions. */
  readonly beside: readonly JsonSchema[]
}

/** Ways through a schema, and pairs of schemas, that are looked at. Beyond them, branches are taken together. */
const WAYS = 200
const PAIRS = 3_000

/**
 * Goes through the branches of unions, each beside the one that it has become: an argument that leaves one of them is
 * gone for the calls of that branch, though its name stays in others, and an open branch does not even refuse it.
 */
export function leftBranches (before: Document, after: Document): readonly LeftBranch[] {
  const found = new Map<string, LeftBranch>()
  const seen = new Set<string>()
  const isShared = before.definitions === after.definitions
  visit([before.root], [after.root], '')
  return [...found.values()]

  function visit (old: readonly unknown[], now: readonly unknown[], path: string): void {
    if (isShared && canonical(old) === canonical(now)) return
    const key = canonical([old, now])
    if (now.length === 0 || seen.has(key) || seen.size > PAIRS) return
    seen.add(key)
    const [olds, news] = [waysThrough(old, before), waysThrough(now, after)]
    if (olds === undefined || news === undefined) return
    const same = new Set(news.map(textOf))
    olds.forEach((one, index) => {
      if (isShared && same.has(textOf(one))) return
      const { successor, isOnly } = successorOf(one, index, news)
      if (successor === undefined) return
      const names = namesIn(successor)
      for (const name of namesIn(one)) {
        const place = inProperty(path, name)
        if (!names.has(name)) found.set(place, { path: place, certain: isOnly })
        else visit(valuesAt(one, name), valuesAt(successor, name), place)
      }
      const both = (next: (part: JsonSchema) => readonly unknown[], place: string): void =>
        visit(partsOf(one).flatMap(next), partsOf(successor).flatMap(next), place)
      both(({ items }) => isObject(items) ? [items] : [], inItem(path))
      both(({ additionalProperties }) => isObject(additionalProperties) ? [additionalProperties] : [], everyOther(path))
    })
  }

  function successorOf (one: Alternative, index: number, news: readonly Alternative[]) {
    const [consts, names, types] = [constsIn(one), namesIn(one), typesOf(one.facts, before)]
    const scored = news.map((other, place) => ({ other, place, consts: constsIn(other) }))
      .filter((candidate) =>
        (types & typesOf(candidate.other.facts, after)) !== 0 &&
        [...consts].every(([name, value]) => (candidate.consts.get(name) ?? value) === value)
      )
      .map(({ other, place, consts: theirs }) => ({
        other,
        place,
        told: [...consts.keys()].filter((name) => theirs.has(name)).length,
        common: [...namesIn(other)].filter((name) => names.has(name)).length
      }))
      .sort((a, b) => b.told - a.told || b.common - a.common || Math.abs(a.place - index) - Math.abs(b.place - index))
    const [best, next] = scored
    return { successor: best?.other, isOnly: next === undefined || (best !== undefined && best.told > next.told) }
  }
}

/** The ways through the unions of schemas that hold at once; undefined when they are too many. */
function waysThrough (
  schemas: readonly unknown[],
  document: Document,
  followed: readonly string[] = []
): readonly Alternative[] | undefined {
  let ways: readonly Alternative[] = [{ facts: [], beside: [] }]
  for (const schema of schemas) {
    if (!isObject(schema)) continue
    const { $ref, allOf, then, else: otherwise, dependentSchemas } = schema
    const beside = [then, otherwise, ...schemasIn(dependentSchemas).values()].filter(isObject)
    const target = typeof $ref === 'string' && !followed.includes($ref) ? document.resolve($ref) : undefined
    const whole = waysThrough(
      [target, ...Array.isArray(allOf) ? allOf : []],
      document,
      typeof $ref === 'string' ? [...followed, $ref] : followed
    )
    const choices = unionsOf(schema).map((union) =>
      union.flatMap((branch) => isObject(branch) ? waysThrough([branch], document, followed) ?? [UNKNOWN] : [])
    )
    for (const more of [[{ facts: [schema], beside }], whole ?? [UNKNOWN], ...choices]) {
      if (more.includes(UNKNOWN) || ways.length * more.length > WAYS) return undefined
      ways = ways.flatMap((way) =>
        more.map((other) => ({ facts: [...way.facts, ...other.facts], beside: [...way.beside, ...other.beside] }))
      )
    }
  }
  return ways
}

/** Stands for more ways than are looked at. */
const UNKNOWN: Alternative = { facts: [], beside: [] }

function partsOf ({ facts, beside }: Alternative): readonly JsonSchema[] {
  return [...facts, ...beside]
}

function namesIn (way: Alternative): ReadonlySet<string> {
  return new Set(
    partsOf(way).flatMap(({ properties }) =>
      [...schemasIn(properties)].filter(([, schema]) => schema !== false).map(([name]) => name)
    )
  )
}

function valuesAt (way: Alternative, name: string): readonly unknown[] {
  return partsOf(way).map(({ properties }) => schemasIn(properties).get(name))
}

/** The properties that tell a branch from others, each with its one value. */
function constsIn ({ facts }: Alternative): ReadonlyMap<string, string> {
  return new Map(
    facts.flatMap(({ properties }) => [...schemasIn(properties)]).flatMap(([name, schema]) => {
      if (!isObject(schema)) return []
      const { const: value, enum: list } = schema
      if (value !== undefined) return [[name, canonical(value)] as const]
      return Array.isArray(list) && list.length === 1 ? [[name, canonical(list[0])] as const] : []
    })
  )
}

/** What the way says by itself: its unions are chosen already. */
function textOf ({ facts, beside }: Alternative): string {
  return [...facts, ...beside].map((fact) => {
    const { anyOf, oneOf, allOf, ...rest } = bare(fact) as JsonSchema
    return canonical(rest)
  }).join()
}
