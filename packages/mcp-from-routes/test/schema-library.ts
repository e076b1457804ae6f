import { Ajv } from 'ajv'
import type { FastifySchema, FastifySchemaCompiler } from 'fastify'

/*
 * A library of schemas like TypeBox 1: what it makes is JSON Schema with a mark that JSON does not show, and only what
 * has the mark is converted, filled or cleaned.
 */

type Made = Record<string, unknown>

export function made (schema: Made): Made {
  return Object.defineProperty({ ...schema }, '~kind', { value: String(schema.type), enumerable: false })
}

export function record (properties: Record<string, Made>, more: Made = {}): Made {
  return made({ type: 'object', properties, required: Object.keys(properties), ...more })
}

export function isMade (schema: unknown): schema is Made {
  return Object(schema)['~kind'] !== undefined
}

/** What a compiler does before it checks. */
interface Does {
  readonly converts?: boolean
  readonly fills?: boolean
  readonly cleans?: boolean
}

const ajv = new Ajv({ strict: false })

const CONVERTS_URLS = (httpPart: string | undefined): Does => ({ converts: httpPart !== 'body' })

/** By default, one that converts what is in URLs, as that of @fastify/type-provider-typebox does. */
export function compilerOf (does = CONVERTS_URLS): FastifySchemaCompiler<FastifySchema> {
  return ({ schema, httpPart }) => {
    const check = ajv.compile(schema as object)
    return (value) => {
      const converted = read(schema, value, does(httpPart))
      return check(converted) ? { value: converted } : { error: new Error(ajv.errorsText(check.errors)) }
    }
  }
}

function read (schema: unknown, value: unknown, does: Does): unknown {
  if (!isMade(schema)) return value
  if (schema.type === 'object') return readRecord(schema, value, does)
  if (schema.type === 'array') {
    const items: unknown = does.converts === true ? [value].flat() : value
    return Array.isArray(items) ? items.map((item) => read(schema.items, item, does)) : items
  }
  return does.converts === true ? readScalar(schema.type, value) : value
}

function readRecord (schema: Made, value: unknown, does: Does): unknown {
  if (typeof value !== 'object' || value === null) return value
  const properties = schema.properties as Record<string, Made>
  const out: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(value)) {
    if (does.cleans !== true || name in properties) out[name] = read(properties[name], inner, does)
  }
  if (does.fills === true) { for (const [name, property] of Object.entries(properties)) out[name] ??= property.default }
  return out
}

/** As that library does: it cuts decimals off, and takes truth values and nothing for numbers. */
function readScalar (type: unknown, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (type === 'boolean') return TRUTH.get(value) ?? value
  if (type !== 'integer') return value
  const number = Number(TRUTH.get(value) ?? value.replace(/n$/, ''))
  return Number.isNaN(number) ? value : Math.trunc(number)
}

const TRUTH: ReadonlyMap<string, boolean> = new Map([['true', true], ['1', true], ['false', false], ['0', false]])
