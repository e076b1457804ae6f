import { isObject, listIn, mapSubschemas, type JsonSchema } from './json-schema.ts'

/** A property of a schema of the host, for trying one of its compilers on that property alone. */
export interface Leaf {
  readonly parent: JsonSchema
  readonly name: string
  readonly schema: JsonSchema
  /** Tells apart what a library made of another library, or in another way. Empty for plain JSON Schema. */
  readonly marks: string
}

/** The properties of a schema at every depth, also of one for several media types. */
export function leavesOf (schema: unknown, seen = new Set<unknown>()): readonly Leaf[] {
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  const { properties, content } = schema
  const inner = isObject(content) ? Object.values(content).map((one: unknown): unknown => Object(one).schema) : []
  mapSubschemas(schema, (sub) => {
    inner.push(sub)
  })
  const own = Object.keys(Object(properties)).flatMap((name) => leafNamed(schema, name) ?? [])
  return [...own, ...inner.flatMap((sub) => leavesOf(sub, seen))]
}

export function leafNamed (parent: unknown, name: string): Leaf | undefined {
  if (!isObject(parent) || !isObject(parent.properties) || !Object.hasOwn(parent.properties, name)) return undefined
  const schema = parent.properties[name]
  return isObject(schema) ? { parent, name, schema, marks: marksOf(schema) } : undefined
}

/** The schema with no other property. It stays one of its library, which knows its own by what JSON does not show. */
export function alone ({ parent, name, schema }: Leaf, isRequired = false): JsonSchema {
  const shell = Object.create(Object.getPrototypeOf(parent) as object) as object
  for (const key of Reflect.ownKeys(parent)) {
    const isKept = isMark(parent, key) || KEPT.has(key)
    if (isKept) Object.defineProperty(shell, key, Object.getOwnPropertyDescriptor(parent, key) as PropertyDescriptor)
  }
  return Object.assign(shell, { type: 'object', properties: { [name]: schema }, required: isRequired ? [name] : [] })
}

const KEPT: ReadonlySet<unknown> = new Set(['$defs', 'additionalProperties', 'definitions'])

function marksOf (schema: object): string {
  const marks = Reflect.ownKeys(schema).filter((key) => isMark(schema, key))
  return marks.map((key) => `${String(key)}=${JSON.stringify(Reflect.get(schema, key))}`).join()
}

/** Whether JSON does not show the property: TypeBox has `~kind`, or a symbol. */
function isMark (schema: object, key: string | symbol): boolean {
  return typeof key === 'symbol' || !Object.prototype.propertyIsEnumerable.call(schema, key)
}

/** A value that probably fits the schema. */
export function sampleOf (schema: unknown, type?: string): unknown {
  if (!isObject(schema)) return 'x'
  const [listed = schema.const] = listIn(schema.enum)
  if (listed !== undefined) return listed
  if (Array.isArray(schema.anyOf)) return sampleOf(schema.anyOf[0], type)
  const { required, properties, items, minItems, minimum, maximum = 1 } = schema
  switch (type ?? [schema.type].flat()[0]) {
    case 'integer':
    case 'number':
      return minimum ?? maximum
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: Math.max(1, Number(minItems) || 0) }, () => sampleOf(items))
    case 'object': {
      const names = listIn(required).map(String)
      return Object.fromEntries(names.map((name) => [name, sampleOf(Reflect.get(Object(properties), name))]))
    }
    default:
      return 'x'
  }
}
