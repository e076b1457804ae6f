import { combine, definitionsOf, referredTo } from './shared.ts'
import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'

/** How much longer a schema may become without references: several clients cannot read any. */
const ALLOWANCE = 1.1
/** Subschemas. A schema that has more without its references is not looked at in that form. */
const MOST_EXPANDED = 20_000

/**
 * The same schema without references, where it is hardly longer then. Else with each definition where it takes the
 * least space: in place of its reference when it is used once or is as short, under `$defs` when it is used more often
 * or refers to itself, nowhere when it is not used.
 */
export function compact (schema: JsonSchema): JsonSchema {
  const short = inlined(
    schema,
    (name, target, uses) =>
      uses * lengthOf(target) <= lengthOf({ [name]: target }) + uses * lengthOf({ $ref: `#/$defs/${name}` })
  )
  const long = expanded(short)
  return long !== undefined && long.$defs === undefined && lengthOf(long) <= ALLOWANCE * lengthOf(short) ? long : short
}

/**
 * The same schema without references, except those in a circle.
 * @returns undefined where it would have too many subschemas
 */
export function expanded (schema: JsonSchema): JsonSchema | undefined {
  return sizeOf(schema) > MOST_EXPANDED ? undefined : inlined(schema, () => true)
}

/** @param isInlined - whether a definition that is in no circle stands in place of its references */
function inlined (
  schema: JsonSchema,
  isInlined: (name: string, target: JsonSchema, uses: number) => boolean
): JsonSchema {
  const { $defs, ...root } = schema
  const definitions = definitionsOf(schema)
  const uses = new Map<string, number>()
  const circular = new Set<string>()
  const open = new Set<string>()
  count(root)
  const targets = new Map<string, JsonSchema | undefined>()
  const out = expand(root)
  const kept = [...uses.keys()].filter((name) => definitions.has(name) && targetOf(name) === undefined)
  return kept.length === 0
    ? out
    : { ...out, $defs: Object.fromEntries(kept.map((name) => [name, expand(definitions.get(name) ?? {})])) }

  function count (node: unknown): void {
    if (!isObject(node)) return
    const name = referredTo(node)
    if (name !== undefined) {
      const before = uses.get(name) ?? 0
      uses.set(name, before + 1)
      if (open.has(name)) circular.add(name)
      if (before === 0) {
        open.add(name)
        count(definitions.get(name))
        open.delete(name)
      }
    }
    mapSubschemas(node, count)
  }

  function expand (node: JsonSchema): JsonSchema {
    const { $ref, ...rest } = mapSubschemas(node, (sub) => isObject(sub) ? expand(sub) : sub)
    const target = targetOf(referredTo(node))
    if (target !== undefined) return combine(target, rest)
    return $ref === undefined ? rest : { $ref, ...rest }
  }

  /** What stands in place of references to the definition; undefined when it stays a definition. */
  function targetOf (name: string | undefined): JsonSchema | undefined {
    const definition = name === undefined ? undefined : definitions.get(name)
    if (name === undefined || definition === undefined || circular.has(name)) return undefined
    if (targets.has(name)) return targets.get(name)
    const target = expand(definition)
    targets.set(name, isInlined(name, target, uses.get(name) ?? 0) ? target : undefined)
    return targets.get(name)
  }
}

/** How many subschemas there are once all references are replaced. */
function sizeOf (schema: JsonSchema): number {
  const definitions = definitionsOf(schema)
  const known = new Map<string, number>()
  return size(schema)

  function size (node: JsonSchema): number {
    let all = 1
    mapSubschemas(node, (sub, keyword) => {
      if (isObject(sub) && keyword !== '$defs') all += size(sub)
    })
    const name = referredTo(node)
    return name === undefined ? all : all + sizeOfDefinition(name)
  }

  function sizeOfDefinition (name: string): number {
    const before = known.get(name)
    if (before !== undefined) return before
    known.set(name, 1) // In a circle it stays a reference.
    const all = size(definitions.get(name) ?? {})
    known.set(name, all)
    return all
  }
}

function lengthOf (json: unknown): number {
  return JSON.stringify(json).length
}
