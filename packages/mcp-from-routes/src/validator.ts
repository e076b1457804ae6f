import type { FastifySchema, FastifySchemaCompiler } from 'fastify'

type Compiler = FastifySchemaCompiler<FastifySchema>

const SCHEMA = { type: 'object', properties: { a: { type: 'string', default: 'x' } }, required: ['a'] }

/**
 * Tells whether a validator compiler fills in defaults before it looks for required properties, as Fastify's own does
 * unless its `useDefaults` is off. Nothing says what a compiler does, so it is given something to fill in. Each is asked
 * once.
 */
export function defaultsCheck (): (compiler: Compiler | undefined) => boolean {
  const known = new Map<unknown, boolean>()
  return (compiler) => {
    const fills = known.get(compiler) ?? (compiler !== undefined && fillsIn(compiler))
    known.set(compiler, fills)
    return fills
  }
}

function fillsIn (compiler: Compiler): boolean {
  const body: { a?: string } = {}
  try {
    const validate = compiler({ schema: SCHEMA as FastifySchema, method: 'POST', url: '/', httpPart: 'body' })
    validate(body)
    return body.a === 'x'
  } catch {
    // It is for schemas of another kind.
    return false
  }
}
