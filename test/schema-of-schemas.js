import { createRequire } from 'node:module'

/*
 * Every instance of Ajv compiles the schema of schemas, and every server in a test has instances. It comes out the same
 * each time: one for all that have the same options is a tenth of the time of many tests.
 */
const { default: Core } = createRequire(import.meta.url)('ajv/dist/core')
const { _compileMetaSchema: compile } = Core.prototype
const compiled = new WeakMap()

Core.prototype._compileMetaSchema = function (env) {
  const options = JSON.stringify(
    this._metaOpts,
    (name, value) => typeof value === 'object' && !['', 'code'].includes(name) ? undefined : value
  )
  if (!compiled.has(env.schema)) compiled.set(env.schema, new Map())
  const known = compiled.get(env.schema)
  if (!known.has(options)) {
    compile.call(this, env)
    known.set(options, env.validate)
  }
  env.validate = known.get(options)
}
