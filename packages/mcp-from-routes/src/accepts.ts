import type { FastifySchema, FastifySchemaCompiler } from 'fastify'
import { isObject } from './json-schema.ts'

/** Whether a validator takes a string for a value of the type; undefined when that is unknown. */
export type AcceptsText = (type: 'array' | 'object', text: string) => boolean | undefined

/** The same for each query argument of a route, by its name. */
export type QueryAcceptance = (name: string) => AcceptsText

type Compiler = FastifySchemaCompiler<FastifySchema>

/**
 * Nothing tells what a validator converts, so it is given something to validate: a Standard Schema the argument, any
 * other validator a schema of the same type.
 */
export function queryAcceptance (): (querystring: unknown, compiler: Compiler | undefined) => QueryAcceptance {
  const known = new Map<Compiler, Map<string, boolean | undefined>>()
  return (querystring, compiler) => (name) => (type, text) => {
    const validate = standardValidator(querystring)
    if (validate !== undefined) return standardAccepts(validate, name, type, text)
    if (compiler === undefined) return undefined
    const answers = known.get(compiler) ?? new Map<string, boolean | undefined>()
    known.set(compiler, answers)
    if (!answers.has(type)) answers.set(type, compilerAccepts(compiler, type, text))
    return answers.get(type)
  }
}

function compilerAccepts (compiler: Compiler, type: string, text: string): boolean | undefined {
  try {
    const schema = { type: 'object', properties: { a: { type } } }
    const result: unknown = compiler({ schema: schema as FastifySchema, method: 'GET', url: '/', httpPart: 'querystring' })({ a: text })
    return result !== false && !(result instanceof Error) && !(isObject(result) && result.error !== undefined)
  } catch {
    // It is for schemas of another kind.
    return undefined
  }
}

type StandardValidate = (value: unknown) => unknown

function standardValidator (schema: unknown): StandardValidate | undefined {
  const standard: unknown = typeof schema === 'object' || typeof schema === 'function' ? Reflect.get(schema ?? {}, '~standard') : undefined
  const validate: unknown = isObject(standard) ? standard.validate : undefined
  return typeof validate === 'function' ? (value) => validate.call(standard, value) as unknown : undefined
}

function standardAccepts (validate: StandardValidate, name: string, type: 'array' | 'object', text: string): boolean | undefined {
  const shaped = refuses(validate, name, type === 'array' ? [text] : {})
  // A schema that refuses the right type as well says nothing about the type.
  if (shaped !== false) return undefined
  const refused = refuses(validate, name, text)
  return refused === undefined ? undefined : !refused
}

/**
 * Whether a value is refused as a whole: not for one of its elements, nor for other arguments.
 * @see [Standard Schema](https://standardschema.dev/schema) for the issues
 */
function refuses (validate: StandardValidate, name: string, value: unknown): boolean | undefined {
  try {
    const result = validate({ [name]: value })
    if (!isObject(result) || result instanceof Promise) return undefined
    const issues: unknown[] = Array.isArray(result.issues) ? result.issues : []
    return issues.some((issue) => {
      const path: unknown = Object(issue).path
      const [first] = Array.isArray(path) && path.length === 1 ? path : []
      return first === name || (isObject(first) && first.key === name)
    })
  } catch {
    return undefined
  }
}
