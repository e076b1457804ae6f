import { attempt } from '../attempt.ts'
import { isObject, mapSubschemas, type JsonSchema } from '../schema/json-schema.ts'

const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$comment',
  '$defs',
  '$schema',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'default',
  'definitions',
  'deprecated',
  'description',
  'examples',
  'readOnly',
  'title',
  'writeOnly'
])

/**
 * Whether a keyword says something to readers and constrains nothing. So do extensions, which begin with `x-`, but for
 * the one that lists values.
 */
export function isAnnotation (keyword: string): boolean {
  return ANNOTATIONS.has(keyword) || (keyword.startsWith('x-') && keyword !== 'x-extensible-enum')
}

/** A whole schema, in which references are looked up. */
export interface Document {
  readonly root: JsonSchema
  /** The schema that a reference leads to; undefined when that cannot be said. */
  resolve: (ref: string) => unknown
  /** The text of its definitions, without annotations. */
  readonly definitions: string
}

/** @param root - with the `$defs` that its references point to */
export function documentOf (root: JsonSchema): Document {
  // Under an `$id`, references would mean something else.
  const isPlain = !/"(\$id|\$anchor|\$dynamicAnchor)":/.test(canonical(root))
  return {
    root,
    resolve: (ref) => isPlain && /^#(\/|$)/.test(ref) ? pointed(root, ref.slice(1)) : undefined,
    definitions: canonical(bare({ $defs: root.$defs ?? {} }))
  }
}

function pointed (root: unknown, pointer: string): unknown {
  let place = root
  for (const token of pointer.split('/').slice(1)) {
    const key = attempt(() => decodeURIComponent(token))?.replaceAll('~1', '/').replaceAll('~0', '~')
    if (key === undefined || !(isObject(place) || Array.isArray(place)) || !Object.hasOwn(place, key)) return undefined
    place = Reflect.get(place, key)
  }
  return place
}

/** JSON with the keys of every object sorted: the same text for the same value. */
export function canonical (value: unknown): string {
  if (!isObject(value)) {
    return Array.isArray(value)
      ? `[${value.map((part) => part === undefined ? 'null' : canonical(part)).join()}]`
      : JSON.stringify(value) ?? 'undefined'
  }
  const known = texts.get(value)
  if (known !== undefined) return known
  const parts = Object.keys(value).sort().filter((key) => value[key] !== undefined)
  const text = `{${parts.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`
  texts.set(value, text)
  return text
}

// Schemas are compared with many others and never changed meanwhile. What is kept goes with the schema.
const texts = new WeakMap<object, string>()
const bared = new WeakMap<object, unknown>()

/** The schema without its annotations, at any depth. Its definitions stay. */
export function bare (schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const known = bared.get(schema) ?? withoutAnnotations(schema)
  bared.set(schema, known)
  return known
}

function withoutAnnotations (schema: JsonSchema): unknown {
  return mapSubschemas(
    Object.fromEntries(
      Object.entries(schema).filter(([keyword]) =>
        keyword === '$defs' || keyword === 'definitions' || !isAnnotation(keyword)
      )
    ),
    bare
  )
}

/** Whether two schemas of two documents say the same, apart from annotations, by their text. */
export function sameSchema (a: unknown, aDocument: Document, b: unknown, bDocument: Document): boolean {
  const text = canonical(bare(a))
  if (text !== canonical(bare(b))) return false
  return !/"\$(ref|dynamicRef|recursiveRef)":/.test(text) ||
    (refersOnlyTo(text, '#/$defs/') && aDocument.definitions === bDocument.definitions)
}

/** Whether each reference of a schema leads to the schema itself or to one of its definitions, by name. */
export function refersByName (schema: JsonSchema): boolean {
  const text = canonical(schema)
  return !/"\$(dynamicRef|recursiveRef)":/.test(text) && referencesIn(text).every((ref) => ref === '#' || isNamed(ref))
}

/** Whether two whole schemas say the same, apart from annotations, by their text. */
export function sameDocument (a: JsonSchema, b: JsonSchema): boolean {
  const text = canonical(bare(a))
  return text === canonical(bare(b)) && (refersOnlyTo(text, '#') || refersOnlyTo(text, '#/$defs/'))
}

/** A reference to any other place might lead into what {@link bare} leaves out. */
function refersOnlyTo (text: string, place: '#' | '#/$defs/'): boolean {
  return referencesIn(text).every((ref) => place === '#' ? ref === '#' : isNamed(ref))
}

function isNamed (ref: string): boolean {
  return /^#\/\$defs\/[^/%~\\]+$/.test(ref)
}

function referencesIn (text: string): readonly string[] {
  return [...text.matchAll(/"\$(?:ref|dynamicRef|recursiveRef)":"((?:[^"\\]|\\.)*)"/g)].map(([, ref]) => String(ref))
}
