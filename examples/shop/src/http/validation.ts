import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifyInstance } from 'fastify'
import { UUID } from './schemas.ts'

/** `verbose` keeps the value and the schema of a fault, for the message about it. */
const SHARED = { useDefaults: true, removeAdditional: false, addUsedSchema: false, verbose: true } as const

/** What validates JSON: it converts nothing. */
export function jsonValidator (): Ajv {
  return withFormats(new Ajv({ ...SHARED, allowUnionTypes: true }))
}

/**
 * How the app validates input. Strings (path, query, headers) are converted to the schema's types; JSON (a body, the
 * filter of a list) is not converted. Unknown fields are rejected, never dropped silently.
 */
export function validateInput (app: FastifyInstance): void {
  const fromText = withFormats(new Ajv({ ...SHARED, coerceTypes: 'array' }))
  const asItIs = jsonValidator()

  app.setValidatorCompiler<ObjectSchema>(({ schema, httpPart }) => {
    asItIs.validateSchema(schema, true)
    if (httpPart === 'body') return onFirstUse(() => asItIs.compile(schema))
    const filter = httpPart === 'querystring' ? schema.properties?.['filter'] : undefined
    return onFirstUse(() =>
      filter?.properties === undefined ? fromText.compile(schema) : queryValidator(fromText, asItIs, schema, filter)
    )
  })

  // Many clients send a JSON content type with every request, even a DELETE without a body.
  const parseJson = app.getDefaultJsonParser('error', 'error')
  // Also without Fastify's own parser for text, which no route accepts.
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parseJson(request, body, done)
  })
}

function withFormats (ajv: Ajv): Ajv {
  // The format of ajv-formats also accepts URNs, which PostgreSQL does not.
  return formats.default(ajv).addFormat('uuid', UUID).addKeyword('x-mcp-header')
}

/** Compiling the schemas of all routes would take a good part of startup, and few are needed soon. */
function onFirstUse (compile: () => ValidateFunction): ValidateFunction {
  let compiled: ValidateFunction | undefined
  const validate = (data: unknown): boolean => {
    compiled ??= compile()
    const isValid = compiled(data) as boolean
    validate.errors = compiled.errors
    return isValid
  }
  validate.errors = null as ValidateFunction['errors']
  return validate as ValidateFunction
}

interface ObjectSchema {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, ObjectSchema>>
}

/** Validates the query as strings and its filter as JSON, where a single value may replace a list of one. */
function queryValidator (fromText: Ajv, asItIs: Ajv, schema: ObjectSchema, filter: ObjectSchema): ValidateFunction {
  const validateText = fromText.compile({ ...schema, properties: { ...schema.properties, filter: {} } })
  const validateFilter = asItIs.compile({ type: 'object', properties: { filter } })
  const lists = Object.entries(filter.properties ?? {}).filter(([, { type }]) => type === 'array').map(([name]) => name)

  const validate = (query: { filter?: Record<string, unknown> }): boolean => {
    validate.errors = null
    if (!validateText(query)) validate.errors = validateText.errors
    else {
      for (const name of lists) {
        const value = query.filter?.[name]
        if (value !== undefined && !Array.isArray(value)) query.filter![name] = [value]
      }
      if (!validateFilter(query)) validate.errors = validateFilter.errors
    }
    return validate.errors === null
  }
  validate.errors = null as ValidateFunction['errors']
  return validate as ValidateFunction
}
