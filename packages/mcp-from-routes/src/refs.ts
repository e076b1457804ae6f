import { isObject, mapSubschemas } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'

/** A schema that a `$ref` points at, with the base that references inside it start from. */
interface Target { readonly schema: JsonSchema, readonly base: string, readonly name: string }

/** Definitions that could not be inlined, by the name they have under `$defs`. */
export type Definitions = Map<string, Record<string, unknown>>

/** Resolves the references of one set of schemas. */
export interface RefResolver {
  /**
   * A copy of `schema` without references, except those in a circle.
   * @param definitions - receives the targets of the references that stay; they read `#/$defs/<name>`
   * @returns the copy, or a sentence naming the reference that cannot be resolved
   */
  inline: (schema: JsonSchema, definitions: Definitions) => JsonSchema | string
}

// Above this many subschemas a shape used twice is kept once under $defs: inlining doubles at every level.
const MAX_INLINED = 4000

const DATA = new Set(['const', 'default', 'enum', 'examples'])
const DROPPED = new Set(['$anchor', '$defs', '$id', '$schema', 'definitions', 'id'])
const ANNOTATIONS = new Set(['default', 'deprecated', 'description', 'example', 'examples', 'readOnly', 'title', 'writeOnly'])

/** Thrown inside this file only, to leave a deep recursion; its message becomes the answer of `inline`. */
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
    inline (schema, definitions) {
      const index = new Index(sharedIndex)
      // A base no `$id` can have, so that `#` inside the schema means the schema itself.
      index.add(schema, '\0root')
      try {
        return new Inliner(index, schema, definitions).expand(schema, '\0root')
      } catch (error) {
        if (error instanceof Unresolvable) return error.message
        throw error
      }
    }
  }
}

/** Finds documents by URI and bases by schema. */
class Index {
  readonly #documents = new Map<string, { schema: JsonSchema, base: string }>()
  readonly #bases = new Map<object, string>()
  readonly #parent: Index | undefined

  constructor (parent?: Index) {
    this.#parent = parent
  }

  add (schema: unknown, base: string): void {
    if (!isObject(schema)) return
    this.#documents.set(base, { schema, base })
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
      this.#documents.set(trimHash(uri), { schema: node, base: uri.includes('#') && !uri.endsWith('#') ? base : trimHash(uri) })
      if (!node.$id.startsWith('#')) inner = trimHash(uri)
    }
    if (typeof node.$anchor === 'string') this.#documents.set(`${inner}#${node.$anchor}`, { schema: node, base: inner })
    if (this.#bases.has(node)) return
    this.#bases.set(node, inner)
    for (const [keyword, value] of Object.entries(node)) if (!DATA.has(keyword)) this.#walk(value, inner)
  }

  document (uri: string): { schema: JsonSchema, base: string } | undefined {
    return this.#documents.get(uri) ?? this.#parent?.document(uri)
  }

  base (schema: object): string | undefined {
    return this.#bases.get(schema) ?? this.#parent?.base(schema)
  }

  resolve (ref: string, base: string): Target {
    const hash = ref.indexOf('#')
    const [uri, fragment] = hash === -1 ? [ref, ''] : [ref.slice(0, hash), ref.slice(hash + 1)]
    const at = uri === '' ? base : resolveUri(base, uri)
    const anchored = fragment === '' || fragment.startsWith('/')
      ? this.document(at) ?? this.document(uri)
      : this.document(`${at}#${fragment}`) ?? this.document(`${uri}#${fragment}`)
    if (anchored === undefined) throw new Unresolvable(`$ref "${ref}" leads nowhere. Add that schema with addSchema before the route`)
    let schema: unknown = anchored.schema
    let inner = anchored.base
    if (fragment.startsWith('/')) {
      for (const key of fragment.slice(1).split('/').map(pointerKey)) {
        schema = isObject(schema) || Array.isArray(schema) ? Reflect.get(schema, key) : undefined
        if (isObject(schema)) inner = this.base(schema) ?? inner
      }
    }
    if (schema === true) schema = {}
    if (schema === false) schema = { not: {} }
    if (!isObject(schema)) throw new Unresolvable(`$ref "${ref}" leads nowhere. Check the path after #`)
    return { schema, base: inner, name: nameOf(ref, schema) }
  }
}

/** Rebuilds one schema with its references replaced. */
class Inliner {
  readonly #index: Index
  readonly #definitions: Definitions
  readonly #names = new Map<object, string>()
  readonly #kept: ReadonlySet<object>

  constructor (index: Index, root: JsonSchema, definitions: Definitions) {
    this.#index = index
    this.#definitions = definitions
    this.#kept = targetsToKeep(index, root)
  }

  expand (schema: unknown, base: string): Record<string, unknown> {
    if (schema === true) return {}
    if (!isObject(schema)) return { not: {} }
    const here = this.#index.base(schema) ?? base
    const { $ref, ...siblings } = schema
    const rest = mapSubschemas(without(siblings, DROPPED), (sub) => typeof sub === 'boolean' ? sub : this.expand(sub, here))
    if (typeof $ref !== 'string') return rest
    const target = this.#index.resolve($ref, here)
    return combine(this.#kept.has(target.schema) ? { $ref: `#/$defs/${this.#define(target)}` } : this.expand(target.schema, target.base), rest)
  }

  /** Puts a target under `$defs`, once, and gives its name there. */
  #define (target: Target): string {
    const known = this.#names.get(target.schema)
    if (known !== undefined) return known
    let name = target.name
    for (let n = 2; this.#definitions.has(name); n++) name = `${target.name}_${n}`
    this.#names.set(target.schema, name)
    this.#definitions.set(name, {}) // Reserves the name while the definition, which may refer to itself, is built.
    this.#definitions.set(name, this.expand(target.schema, target.base))
    return name
  }
}

/**
 * The targets that must stay references: those that reach themselves and, when the whole would grow too
 * large without them, those used more than once.
 */
function targetsToKeep (index: Index, root: JsonSchema): ReadonlySet<object> {
  const uses = new Map<object, number>()
  const circular = new Set<object>()
  const sizes = new Map<object, number>()
  const open = new Set<object>()

  function sizeOf (schema: unknown, base: string): number {
    if (!isObject(schema)) return 1
    let size = 1
    const here = index.base(schema) ?? base
    mapSubschemas(without(schema, DROPPED), (sub) => { size += sizeOf(sub, here); return sub })
    if (typeof schema.$ref === 'string') size += sizeOfTarget(index.resolve(schema.$ref, here))
    return size
  }

  function sizeOfTarget ({ schema, base }: Target): number {
    uses.set(schema, (uses.get(schema) ?? 0) + 1)
    if (open.has(schema)) {
      circular.add(schema)
      return 1
    }
    const known = sizes.get(schema)
    if (known !== undefined) return known
    open.add(schema)
    const size = sizeOf(schema, base)
    open.delete(schema)
    sizes.set(schema, size)
    return size
  }

  open.add(root)
  if (sizeOf(root, '\0root') <= MAX_INLINED) return circular
  return new Set([...circular, ...[...uses].filter(([, times]) => times > 1).map(([schema]) => schema)])
}

/** Joins what a `$ref` gave with the keywords that stood beside it. Both hold; annotations beside it win. */
function combine (target: Record<string, unknown>, beside: Record<string, unknown>): Record<string, unknown> {
  const keywords = Object.keys(beside)
  if (keywords.every((keyword) => ANNOTATIONS.has(keyword) || !(keyword in target))) return { ...target, ...beside }
  const annotations = Object.fromEntries(Object.entries(beside).filter(([keyword]) => ANNOTATIONS.has(keyword)))
  return { ...annotations, allOf: [target, without(beside, ANNOTATIONS)] }
}

function without (schema: JsonSchema, keywords: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.has(keyword)))
}

function nameOf (ref: string, schema: JsonSchema): string {
  const last = trimHash(ref).split(/[/#:]/).pop() ?? ''
  const title = last !== '' ? last : typeof schema.title === 'string' ? schema.title : 'self'
  return title.replace(/[^A-Za-z0-9_.-]/g, '_')
}

function resolveUri (base: string, uri: string): string {
  if (uri.startsWith('#')) return base + uri
  return URL.canParse(uri, base) ? new URL(uri, base).href : uri
}

function pointerKey (key: string): string {
  return percentDecoded(key).replaceAll('~1', '/').replaceAll('~0', '~')
}

function percentDecoded (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function trimHash (uri: string): string {
  return uri.endsWith('#') ? uri.slice(0, -1) : uri
}
