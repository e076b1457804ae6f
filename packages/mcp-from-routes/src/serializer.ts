import type { FastifyInstance, FastifySchema, FastifySerializerCompiler } from 'fastify'
import { inherited, serverOptions } from './inherited.ts'

type Compiler = FastifySerializerCompiler<FastifySchema>

/** An answer that JSON.stringify writes otherwise: the property `a` as it is, and one that nobody described. */
const SCHEMA = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] }
const ANSWER = { a: 1, b: '2', c: 3 }
const WRITTEN = '{"a":"1","b":2}'

/**
 * Tells whether a serializer compiler is Fastify's own, or one that writes as that does: only then is an answer as
 * its schema says. Nothing says whose a compiler is, so it is given something to write. Each is asked once.
 */
export function serializerCheck (): (compiler: Compiler | undefined) => boolean {
  const known = new Map<unknown, boolean>()
  return (compiler) => {
    // Fastify sets its own up for every route with a schema of an answer.
    if (compiler === undefined) return true
    const keeps = known.get(compiler) ?? writesAsFastify(compiler)
    known.set(compiler, keeps)
    return keeps
  }
}

/**
 * Whether answers of the routes of an instance are written without a look at their schemas: all, by
 * `setReplySerializer`, or the items of long lists, by `largeArrayMechanism`.
 */
export function writesWithoutSchema (app: FastifyInstance): boolean {
  const { serializerOpts } = serverOptions(app)
  return typeof inherited(app, 'fastify.replySerializerDefault') === 'function' || Object(serializerOpts).largeArrayMechanism === 'json-stringify'
}

function writesAsFastify (compiler: Compiler): boolean {
  try {
    const serialize = compiler({ schema: SCHEMA as FastifySchema, method: 'GET', url: '/', httpStatus: '200' })
    return serialize(ANSWER) === WRITTEN && !writes(serialize, { b: 2 })
  } catch {
    // It is for schemas of another kind.
    return false
  }
}

/** Whether it writes an answer at all: one without a required property must fail. */
function writes (serialize: (answer: unknown) => string, answer: unknown): boolean {
  try {
    serialize(answer)
    return true
  } catch {
    return false
  }
}
