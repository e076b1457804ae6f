import type { TSchema } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { typesOf } from './schema-types.ts'

/*
 * What people cannot see must not make two names, SKUs or addresses different: text is cleaned once, on its way in,
 * before it is validated, compared or stored.
 */

/** Marks a string that is taken as it is. It is no keyword of JSON Schema, so nobody is told. */
const VERBATIM = Symbol('verbatim')

/** The schema of a string that is taken as it is, such as a file or a secret. */
export function verbatim<Schema extends TSchema> (schema: Schema): Schema {
  return Object.assign(schema, { [VERBATIM]: true })
}

/** In characters: a text that may be longer has lines and columns of its own. */
const LONGEST_LINE = 500

const BLANK = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
/** Zero width spaces, soft hyphens and the byte order mark. */
const SILENT = '\\u00ad\\u180e\\u200b\\u2060\\ufeff'
/** What joins letters or sets their direction, which means nothing at an end. */
const JOINING = '\\u200c-\\u200f\\u202a-\\u202e\\u2066-\\u2069'

/** Blanks beside each other, of any script. */
const BLANKS = new RegExp(`[${BLANK}]+`, 'gu')
const UNSEEN = new RegExp(`[${SILENT}]+`, 'gu')
const START = new RegExp(`^[${BLANK}${SILENT}${JOINING}]+`, 'u')
const LAST = new RegExp(`[${BLANK}${SILENT}${JOINING}]$`, 'u')

/**
 * More marks on one letter than any language has. Composing them takes time that grows with the square of their number.
 */
const PILE = /\p{M}{31}/u

/** A text of more than so many times its longest stays as it is, for validation to refuse. */
const SPARE = 4

/** @returns the text in Unicode's composed form, without what is not seen at its ends */
function trimmed (text: string): string {
  const composed = (PILE.test(text) ? text : text.normalize('NFC')).replace(START, '')
  let end = composed.length
  // Not by a pattern: it would try each blank as the first of the last ones.
  while (end > 0 && LAST.test(composed[end - 1]!)) end--
  return composed.slice(0, end)
}

/** @returns text of one line as it is stored: blanks are single spaces, and everything in it can be seen */
export function cleanLine (text: string): string {
  return trimmed(text.replace(UNSEEN, '').replace(BLANKS, ' '))
}

/** Cleans what a schema takes as text, in place; other strings, such as ids and those of any JSON, stay as they are. */
export function cleanText (schema: TSchema | undefined, value: unknown): unknown {
  if (schema === undefined) return value
  if (typeof value === 'string') {
    const longest: number = schema['maxLength'] ?? Infinity
    if (!isText(schema) || value.length > SPARE * longest) return value
    return longest > LONGEST_LINE ? trimmed(value) : cleanLine(value)
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = cleanText(schema['items'], item)
    return value
  }
  const members = value as Record<string, unknown>
  for (const [name, field] of Object.entries<TSchema>(schema['properties'] ?? {})) {
    if (Object.hasOwn(members, name)) members[name] = cleanText(field, members[name])
  }
  return value
}

function isText (schema: TSchema): boolean {
  const { enum: words, format } = schema as { readonly enum?: unknown, readonly format?: string }
  return typesOf(schema).includes('string') && !(VERBATIM in schema) && words === undefined &&
    (format === undefined || format === 'email')
}

/** A `preValidation` hook that cleans the body of a request. */
export async function cleanBody ({ routeOptions, body }: FastifyRequest): Promise<void> {
  cleanText(routeOptions.schema?.body as TSchema | undefined, body)
}
