import { attempt } from '../attempt.ts'
import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'

/** A schema that a `$ref` points at, with the base that references inside it start from. */
interface Target {
  readonly schema: JsonSchema
  readonly base: string
  readonly name: string
}

/** What the references of a tool's schemas lead to. Each target is there once, however many schemas refer to it. */
export interface Definitions {
  /** By the name under `$defs`. */
  readonly schemas: Map<string, JsonSchema>
  readonly names: Map<object, string>
}

/** Resolves the references of one set of schemas. */
export interface RefResolver {
  /**
   * A copy of `schema` in which every reference reads `#/$defs/<name>`.
   * @param definitions - receives the targets, themselves such copies
   * @returns the copy, or a sentence naming the reference that cannot be resolved
   */
  localize: (schema: JsonSchema, definitions: Definitions) => JsonSchema | string
}

const DATA = new Set(['const', 'default', 'enum', 'examples'])
// One object each, so that every reference to one of them is a reference to the same target.
const ANYTHING: JsonSchema = {}
const NOTHING: JsonSchema = { not: {} }
const DROPPED = new Set(['$anchor', '$defs', '$id', '$schema', 'definitions', 'id'])

/** A base no `$id` can have, so that `#` inside a schema means the schema itself. */
const ROOT = '\0root'

/** Thrown inside this file only, to leave a deep recursion; its message becomes the answer of `localize`. */
class Unresolvable extends Error {}

/**
 * Resolves references the way Fastify's validator does: to schemas added with `addSchema`, to `$id`s and
 * anchors inside them, and to JSON pointers.
 * @param shared - the schemas added with `addSchema` that the route can see, by `$id`
 */
export function refResolver (shared: Readonly<Record<string, unknown>>): RefResolver {
  const sharedIndex = new Index()
  for (const [id, schema] of Object.entries(shared)) sharedIndex.add(schema, trimHash(id))
  return {
    localize (schema, definitions) {
      const index = new Index(sharedIndex)
      index.add(schema, ROOT)
      try {
        return new Localizer(index, definitions).copy(schema, ROOT)
      } catch (error) {
        if (error instanceof Unresolvable) return error.message
        throw error
      }
    }
  }
}

/** Finds documents by URI and bases by schema. */
class Index {
  readonly #documents = new Map<string, JsonSchema>()
  readonly #bases = new Map<object, string>()
  readonly #parent: Index | undefined

  constructor (parent?: Index) {
    this.#parent = parent
  }

  add (schema: unknown, base: string): void {
    if (!isObject(schema)) return
    this.#documents.set(base, schema)
    this.#walk(schema, base)
  }

  #walk (node: unknown, base: string): void {
    if (Array.isArray(node)) {
      for (const item of node) this.#walk(item, base)
      return
    }
    if (!isObject(node)) return
    let inner = base
    if (typeof node.$id === 'string' && !this.#bases.has(node)) {
      const uri = resolveUri(base, node.$id)
      this.#documents.set(trimHash(uri), node)
      if (!node.$id.startsWith('#')) inner = trimHash(uri)
    }
    for (const anchor of [node.$anchor, node.$dynamicAnchor]) {
      if (typeof anchor === 'string') this.#documents.set(`${inner}#${anchor}`, node)
    }
    if (this.#bases.has(node)) return
    this.#bases.set(node, inner)
    for (const [keyword, value] of Object.entries(node)) if (!DATA.has(keyword)) this.#walk(value, inner)
  }

  document (uri: string): JsonSchema | undefined {
    return this.#documents.get(uri) ?? this.#parent?.document(uri)
  }

  base (schema: object): string | undefined {
    return this.#bases.get(schema) ?? this.#parent?.base(schema)
  }

  resolve (ref: string, base: string): Target {
    const hash = ref.indexOf('#')
    const [uri, fragment] = hash === -1 ? [ref, ''] : [ref.slice(0, hash), ref.slice(hash + 1)]
    const at = uri === '' ? base : resolveUri(base, uri)
    let schema: unknown = fragment === '' || fragment.startsWith('/')
      ? this.document(at) ?? this.document(uri)
      : this.document(`${at}#${fragment}`) ?? this.document(`${uri}#${fragment}`)
    if (schema === undefined) throw new Unresolvable(unresolved(ref, uri))
    let inner = at
    if (fragment.startsWith('/')) {
      for (const key of fragment.slice(1).split('/').map(pointerKey)) {
        schema = isObject(schema) || Array.isArray(schema) ? Reflect.get(schema, key) : undefined
        if (isObject(schema)) inner = this.base(schema) ?? inner
      }
    }
    if (typeof schema === 'boolean') schema = schema ? ANYTHING : NOTHING
    if (!isObject(schema)) throw new Unresolvable(`$ref "${ref}" leads nowhere. Check the path after #`)
    return { schema, base: inner, name: nameOf(ref, schema) }
  }
}

/** Copies schemas with their references made local. */
class Localizer {
  readonly #index: Index
  readonly #definitions: Definitions

  constructor (index: Index, definitions: Definitions) {
    this.#index = index
    this.#definitions = definitions
  }

  copy (schema: unknown, base: string): JsonSchema {
    if (!isObject(schema)) return { not: {} }
    const here = this.#index.base(schema) ?? base
    const { $ref, ...siblings } = schema
    const rest = mapSubschemas(
      without(siblings, DROPPED),
      (sub) => typeof sub === 'boolean' ? sub : this.copy(sub, here)
    )
    return typeof $ref === 'string'
      ? { $ref: `#/$defs/${this.#define(this.#index.resolve($ref, here))}`, ...rest }
      : rest
  }

  /** Puts a target among the definitions, once, and returns its name there. */
  #define ({ schema, base, name: wanted }: Target): string {
    const { schemas, names } = this.#definitions
    const known = names.get(schema)
    if (known !== undefined) return known
    let name = wanted
    for (let n = 2; schemas.has(name); n++) name = `${wanted}_${n}`
    names.set(schema, name)
    schemas.set(name, {}) // Reserves the name while the definition, which may refer to itself, is built.
    schemas.set(name, this.copy(schema, base))
    return name
  }
}

function without (schema: JsonSchema, keywords: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.has(keyword)))
}

/** What to do about a reference that leads nowhere. */
function unresolved (ref: string, uri: string): string {
  if (/^https?:\/\/json-schema\.org\//.test(uri)) {
    return `$ref "${ref}" is a meta-schema, which only the validator has. Describe what the route takes instead`
  }
  return `$ref "${ref}" leads nowhere. ` +
    `${uri === '' ? 'No schema here has that $id or $anchor' : 'Add that schema with addSchema before the route'}`
}

function nameOf (ref: string, schema: JsonSchema): string {
  const last = trimHash(ref).replace(/^.*[/#:]/s, '')
  const title = typeof schema.title === 'string' ? schema.title : 'self'
  return (last === '' ? title : last).replace(/[^A-Za-z0-9_.-]/g, '_')
}

function resolveUri (base: string, uri: string): string {
  if (uri.startsWith('#')) return base + uri
  return URL.canParse(uri, base) ? new URL(uri, base).href : uri
}

function pointerKey (key: string): string {
  return (attempt(() => decodeURIComponent(key)) ?? key).replaceAll('~1', '/').replaceAll('~0', '~')
}

function trimHash (uri: string): string {
  return uri.endsWith('#') ? uri.slice(0, -1) : uri
}
