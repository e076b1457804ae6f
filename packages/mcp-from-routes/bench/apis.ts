// npm run apis: the whole APIs of GitHub and Kubernetes as routes, every one tagged. Prints how many become tools, why
// the others do not, and how long the tools are. Fails when the schema of a tool is more than a tenth longer than its
// sources. The descriptions are fetched once, by npm, into node_modules/.cache, and never committed.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { toolFromRoute } from '../src/tool/tool.ts'
import { refResolver } from '../src/schema/refs.ts'
import { routesFromOpenApi, sourcesOf } from '../test/openapi.ts'
import { descriptionOf, OPTIONS } from './description.ts'

const APIS = [
  { name: 'GitHub', package: '@octokit/openapi@23.0.2', file: 'generated/api.github.com.json' },
  { name: 'Kubernetes', package: 'kubernetes-client@9.0.0', file: 'lib/specs/swagger-1.13.json.gz' }
]
/** Characters of an object around the arguments. */
const ENVELOPE = 100
const ajv = new Ajv2020({ strict: false, validateFormats: false })

for (const api of APIS) {
  const routes = routesFromOpenApi(descriptionOf(api))
  const reasons = new Map<string, string[]>()
  const lengths: number[] = []
  const begun = performance.now()
  const resolver = refResolver(routes[0]?.shared ?? {})
  for (const route of routes) {
    try {
      const { public: { route: _, ...definition } } = toolFromRoute(route, OPTIONS, resolver)
      lengths.push(JSON.stringify(definition).length)
      const sources = sourcesOf(route)
      for (
        const [schema, source] of [[definition.inputSchema, sources.input], [
          definition.outputSchema,
          sources.output
        ]] as const
      ) {
        if (schema === undefined) continue
        const { length } = JSON.stringify(schema)
        if (length > 1.1 * source + ENVELOPE) {
          throw new TypeError(`${definition.name}: ${length} characters from ${source}`)
        }
        if (!ajv.validateSchema(schema)) throw new TypeError(`${definition.name}: ${ajv.errorsText()}`)
      }
    } catch (error) {
      if (!String(Reflect.get(Object(error), 'code')).startsWith('MCP_FROM_ROUTES_')) throw error
      const { code, message } = error as Error & { code: string }
      reasons.set(code, [...reasons.get(code) ?? [], message])
    }
  }
  const total = lengths.reduce((sum, length) => sum + length, 0)
  console.log(
    `${api.name}: ${routes.length} operations, ${lengths.length} tools of ${Math.round(total / lengths.length)} ` +
      `characters on average and ${Math.max(...lengths)} at most, in ${Math.round(performance.now() - begun)} ms`
  )
  for (const [code, messages] of reasons) {
    console.log(`\n${code}: ${messages.length}`)
    for (const message of messages.slice(0, 5)) console.log(`  ${message}`)
    if (messages.length > 5) console.log(`  and ${messages.length - 5} more`)
  }
}
