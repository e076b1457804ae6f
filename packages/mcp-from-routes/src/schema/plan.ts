import { attempt } from '../attempt.ts'
import { isObject, listIn, type JsonSchema } from './json-schema.ts'
import { ANY_TYPE, typeOfValue, typesOfKeyword } from './type-bits.ts'
import { definition } from './types-of.ts'

/** What a schema says of the types of a value, at every depth. Everything else about the value is up to the route. */
export interface Plan {
  /** As bits, before what `parts` and `unions` say. */
  readonly types: number
  /** The values it lists; undefined if it lists none, or some that are no scalars. */
  readonly values: ReadonlySet<unknown> | undefined
  /** The schema looks at properties. */
  readonly isRecord: boolean
  readonly required: ReadonlySet<string>
  readonly properties: ReadonlyMap<string, Plan>
  readonly patterns: ReadonlyArray<readonly [RegExp, Plan]>
  /**
   * Of properties that are neither named nor matched by a pattern: undefined if the schema says nothing of them, false
   * if it allows none.
   */
  readonly others: Plan | false | undefined
  readonly prefixItems: readonly Plan[]
  readonly items: Plan
  /** Schemas that hold as well. */
  readonly parts: readonly Plan[]
  /** One member of each holds as well. */
  readonly unions: ReadonlyArray<readonly Plan[]>
  readonly condition: { readonly if: Plan, readonly then: Plan, readonly else: Plan } | undefined
  /** Schemas that hold as well if the property is there. */
  readonly dependents: ReadonlyMap<string, Plan>
  /** No other schema holds as well. */
  readonly isAlone: boolean
  /** It takes neither arrays nor objects, and is alone. */
  readonly isScalar: boolean
}

const NOTHING: ReadonlyMap<string, Plan> = new Map()
/** Takes every value. */
export const ANYTHING: Plan = anything()
const NEVER: Plan = { ...ANYTHING, types: 0, isScalar: true }

function anything (): Plan {
  const plan = {
    types: ANY_TYPE,
    values: undefined,
    isRecord: false,
    required: new Set<string>(),
    properties: NOTHING,
    patterns: [],
    others: undefined,
    prefixItems: [],
    items: undefined as unknown as Plan,
    parts: [],
    unions: [],
    condition: undefined,
    dependents: NOTHING,
    isAlone: true,
    isScalar: false
  }
  return Object.assign(plan, { items: plan })
}

/**
 * The plans of the arguments of a tool, by name.
 * @param schema - what the tool takes, with its `$defs`
 */
export function plansOf (schema: JsonSchema): ReadonlyMap<string, Plan> {
  const planOf = planner(schema)
  return new Map(
    Object.entries(schema.properties as Readonly<Record<string, unknown>>).map((
      [name, property]
    ) => [name, planOf(property)])
  )
}

/** Each schema is read once, so that one that refers to itself becomes a plan that does. */
function planner (root: JsonSchema): (schema: unknown) => Plan {
  const known = new Map<JsonSchema, Plan>()

  function planOf (schema: unknown): Plan {
    if (schema === false) return NEVER
    if (!isObject(schema)) return ANYTHING
    const before = known.get(schema)
    if (before !== undefined) return before
    const plan = { ...ANYTHING }
    known.set(schema, plan)
    // One that leads back to itself before it looks into the value says nothing of it.
    return Object.assign(plan, leadsToItself(schema, root) ? ANYTHING : read(schema))
  }

  function read (schema: JsonSchema): Plan {
    const parts = [...typeof schema.$ref === 'string' ? [definition(schema.$ref, root)] : [], ...listIn(schema.allOf)]
      .map(planOf)
    // Which of the two holds cannot be told from types alone.
    const isOpen = schema.if !== undefined && !isJudged(schema.if, root)
    const unions = [schema.anyOf, schema.oneOf, ...isOpen ? [[schema.then, schema.else]] : []].filter((union) =>
      Array.isArray(union)
    ).map((union) => union.map(planOf))
    const values = valuesIn(schema)
    const plan = {
      types: schema.type !== undefined
        ? typesOfKeyword(schema.type, ANY_TYPE)
        : values?.reduce<number>((types, value) => types | typeOfValue(value), 0) ?? ANY_TYPE,
      values: values?.every((value) => typeof value !== 'object' || value === null) ? new Set(values) : undefined,
      isRecord: RECORD.some((keyword) => schema[keyword] !== undefined),
      // A property may be described in one part and required in another.
      required: new Set([...listIn(schema.required).map(String), ...parts.flatMap(({ required }) => [...required])]),
      properties: plansIn(schema.properties),
      patterns: [...plansIn(schema.patternProperties)].flatMap(([pattern, sub]) => {
        const name = attempt(() => new RegExp(pattern, 'u'))
        return name === undefined ? [] : [[name, sub] as const]
      }),
      others: othersOf(schema.additionalProperties),
      prefixItems: listIn(schema.prefixItems).map(planOf),
      items: planOf(schema.items),
      parts,
      unions,
      condition: schema.if === undefined || isOpen
        ? undefined
        : { if: planOf(schema.if), then: planOf(schema.then), else: planOf(schema.else) },
      dependents: plansIn(schema.dependentSchemas)
    }
    const isAlone = parts.length === 0 && unions.length === 0 && plan.condition === undefined &&
      plan.dependents.size === 0
    return { ...plan, isAlone, isScalar: isAlone && (plan.types & STRUCTURED) === 0 }
  }

  function othersOf (schema: unknown): Plan | false | undefined {
    return schema === undefined || schema === false ? schema : planOf(schema)
  }

  function plansIn (map: unknown): ReadonlyMap<string, Plan> {
    return new Map(isObject(map) ? Object.entries(map).map(([name, schema]) => [name, planOf(schema)]) : [])
  }

  return planOf
}

/** Whether a schema is reached again from it through schemas that look at the same value. */
function leadsToItself (schema: JsonSchema, root: JsonSchema): boolean {
  const reached = new Set<unknown>()
  const visit = (from: JsonSchema): boolean => {
    const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise, dependentSchemas } = from
    const next = [
      typeof $ref === 'string' ? definition($ref, root) : undefined,
      ...[allOf, anyOf, oneOf].flatMap(listIn),
      condition,
      then,
      otherwise,
      ...isObject(dependentSchemas) ? Object.values(dependentSchemas) : []
    ]
    return next.some((sub) => {
      if (sub === schema) return true
      if (!isObject(sub) || reached.has(sub)) return false
      reached.add(sub)
      return visit(sub)
    })
  }
  return visit(schema)
}

/** Keywords of a condition that a plan judges as a validator does. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$comment',
  '$defs',
  '$id'
])

/**
 * Whether a plan can tell whether a value fits a condition: everything that it asks for is a type, a listed value or a
 * property.
 */
function isJudged (schema: unknown, root: JsonSchema, depth = 0): boolean {
  if (!isObject(schema)) return true
  if (depth > 8) return false
  const judged = (sub: unknown): boolean => isJudged(sub, root, depth + 1)
  return Object.entries(schema).every(([keyword, value]) => {
    if (ANNOTATIONS.has(keyword) || keyword === 'type' || keyword === 'required') return true
    if (keyword === 'const' || keyword === 'enum') {
      return [value].flat().every((one) => typeof one !== 'object' || one === null)
    }
    if (keyword === 'properties') return isObject(value) && Object.values(value).every(judged)
    if (keyword === 'allOf' || keyword === 'anyOf') return listIn(value).every(judged)
    return keyword === '$ref' && typeof value === 'string' && judged(definition(value, root))
  })
}

const RECORD = ['additionalProperties', 'patternProperties', 'properties', 'required']
/** The types of values that have parts. */
const STRUCTURED = typesOfKeyword(['array', 'object'], 0)

function valuesIn (schema: JsonSchema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum : undefined
}
