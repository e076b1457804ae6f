import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { isObject } from '../src/schema/json-schema.ts'
import { checkArgumentNames } from '../src/tool/argument-names.ts'
import { toolFromRoute, type ExposedRoute, type Tool } from '../src/tool/tool.ts'
import { call, CLIENTS, connect, listen } from './build.ts'
import { routesFromOpenApi, sourcesOf } from './openapi.ts'

const OPTIONS = {
  exposedTag: 'mcp',
  forwardHeaders: ['authorization', 'x-api-key'],
  maxResultBytes: 1_000_000
}
const examples = dirname(createRequire(import.meta.url).resolve('@readme/oas-examples/package.json'))
/** They have the same kinds of operations as the others, many times. */
const LARGE = ['star-trek.json', 'http-status-codes.json', 'readme-legacy.json']
const documents = ['2.0', '3.0', '3.1'].flatMap((version) =>
  readdirSync(join(examples, version, 'json')).filter((name) => name.endsWith('.json') && !LARGE.includes(name)).map((
    name
  ) => join(version, 'json', name))
)
/** Characters of an object around the arguments. */
const ENVELOPE = 100
let tools = 0
const refused = new Map<string, number>()

/** Every operation is a tool, or is refused with a reason. */
function convert (routes: readonly ExposedRoute[]): Array<[ExposedRoute, Tool]> {
  return routes.flatMap((route) => {
    try {
      const tool = toolFromRoute(route, OPTIONS)
      checkArgumentNames(route.url, tool)
      return [[route, tool] as [ExposedRoute, Tool]]
    } catch (error) {
      const code = String(Reflect.get(Object(error), 'code'))
      if (!code.startsWith('MCP_FROM_ROUTES_')) throw error
      refused.set(code, (refused.get(code) ?? 0) + 1)
      return []
    }
  })
}

/** A value a schema might take; types are all that matters, because the routes of this test do not validate. */
function sample (schema: unknown, root: Record<string, unknown>, depth = 0): unknown {
  if (!isObject(schema)) return 'text'
  if (typeof schema.$ref === 'string') {
    return depth > 3
      ? null
      : sample(Object(root.$defs)[schema.$ref.slice('#/$defs/'.length)], root, depth + 1)
  }
  const [alternative] = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray).flat()
  if (schema.type === undefined && alternative !== undefined) return sample(alternative, root, depth + 1)
  switch ([schema.type].flat()[0]) {
    case 'integer':
    case 'number':
      return 7
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array':
      return [sample(schema.items, root, depth + 1), sample(schema.items, root, depth + 1)]
    case 'object':
      return depth > 3
        ? {}
        : Object.fromEntries(
          Object.entries(Object(schema.properties)).map(([name, property]) => [name, sample(property, root, depth + 1)])
        )
    default:
      return 'a/b ü&?'
  }
}

/** How an argument looks in a query string that nobody has coerced. */
function inQuery (value: unknown): unknown {
  const items = [value].flat(1).filter((item) => item !== null).map((item) =>
    typeof item === 'object' ? JSON.stringify(item) : String(item)
  )
  return items.length > 1 ? items : items[0]
}

for (const name of documents) {
  t.test(name, async (t) => {
    const converted = convert(routesFromOpenApi(JSON.parse(readFileSync(join(examples, name), 'utf8'))))
    tools += converted.length
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const [route, { public: { name, inputSchema, outputSchema } }] of converted) {
      const sources = sourcesOf(route)
      t.ok(
        JSON.stringify(inputSchema).length <= 1.1 * sources.input + ENVELOPE,
        `the arguments of ${name} say hardly more than their sources`
      )
      t.ok(JSON.stringify(outputSchema ?? '').length <= 1.1 * sources.output + ENVELOPE, 'its result as well')
      for (const schema of [inputSchema, outputSchema]) {
        if (schema !== undefined) {
          t.doesNotThrow(() => ajv.compile(schema), `${name} is valid JSON Schema 2020-12, all references included`)
        }
      }
      t.equal(inputSchema.type, 'object')
    }

    const routes = new Map(converted.map((entry) => [`${entry[0].method} ${entry[0].url}`, entry]))
    if (routes.size === 0) return
    const { url } = await listen(t, (app) => {
      app.setValidatorCompiler(() => () => true)
      app.setSerializerCompiler(() => JSON.stringify)
      app.addSchema({ ...Object(converted[0]?.[0].shared.openapi), $id: 'openapi' })
      for (const [route] of routes.values()) {
        const { response, ...schema } = route.schema as Record<string, unknown>
        app.route({
          method: String(route.method),
          url: route.url,
          schema,
          handler: async ({ params, query, body, routeOptions }) => ({ route: routeOptions.url, params, query, body })
        })
      }
    })
    for (const which of CLIENTS) {
      const client = await connect(t, which, url)
      t.equal((await client.listTools()).tools.length, routes.size, `client ${which} takes the list`)
    }
    for (const [route, { public: { name, inputSchema }, request: { input } }] of routes.values()) {
      const args = sample(inputSchema, inputSchema) as Record<string, unknown>
      const { structuredContent, content } = await call(url, name, args)
      const inPlace = (place: string, as: (value: unknown) => unknown): unknown => {
        const entries = Object.entries(args).filter(([argument]) => input.places.get(argument) === place).map((
          [argument, value]
        ) => [argument, as(value)])
        return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
      }
      const fields = input.body === 'fields' ? inPlace('body', (value) => value) : undefined
      const body = input.body === 'whole' ? args.body : fields
      t.strictSame(
        structuredContent,
        JSON.parse(
          JSON.stringify({ route: route.url, params: inPlace('path', String), query: inPlace('query', inQuery), body })
        ),
        `${name} reaches its route with its arguments: ${JSON.stringify(content).slice(0, 200)}`
      )
    }
  })
}

t.test('most operations are tools, and the others say why not', async (t) => {
  t.comment({ tools, refused: Object.fromEntries(refused) })
  t.ok(tools > 100)
  // The operations of a few documents have sentences for names.
  const { MCP_FROM_ROUTES_INVALID_ARGUMENT: named = 0, ...others } = Object.fromEntries(refused)
  t.ok(named < tools / 10)
  t.ok(Object.values(others).reduce((sum, n) => sum + n, 0) < tools / 5)
})
