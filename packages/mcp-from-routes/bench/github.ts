// npm run github: GitHub's whole API as routes, every one tagged. Prints how many became tools, and why the others did not.
// The description is fetched once, by npm, into node_modules/.cache, and never committed.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { toolFromRoute } from '../src/tool.ts'
import { refResolver } from '../src/refs.ts'
import { routesFromOpenApi } from '../test/openapi.ts'

const PACKAGE = '@octokit/openapi@23.0.2'
const cache = fileURLToPath(new URL('../../../node_modules/.cache/mcp-from-routes', import.meta.url))
const file = `${cache}/node_modules/@octokit/openapi/generated/api.github.com.json`
if (!existsSync(file)) {
  mkdirSync(cache, { recursive: true })
  execFileSync('npm', ['install', '--prefix', cache, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', PACKAGE], { stdio: 'inherit' })
}

const options = { exposedTag: 'mcp', largeTag: 'large', forwardHeaders: ['authorization', 'x-api-key'], maxResultBytes: 1_000_000 }
const routes = routesFromOpenApi(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
const reasons = new Map<string, string[]>()
let tools = 0
let bytes = 0
const begun = performance.now()
const resolver = refResolver(routes[0]?.shared ?? {})
for (const route of routes) {
  try {
    const { public: { route: _, ...definition } } = toolFromRoute(route, options, resolver)
    bytes += JSON.stringify(definition).length
    for (const schema of [definition.inputSchema, definition.outputSchema]) if (schema !== undefined && !ajv.validateSchema(schema)) throw new TypeError(`${definition.name}: ${ajv.errorsText()}`)
    tools += 1
  } catch (error) {
    if (!String(Reflect.get(Object(error), 'code')).startsWith('MCP_FROM_ROUTES_')) throw error
    const { code, message } = error as Error & { code: string }
    reasons.set(code, [...reasons.get(code) ?? [], message])
  }
}
console.log(`${routes.length} operations: ${tools} tools of ${Math.round(bytes / tools)} bytes on average, in ${Math.round(performance.now() - begun)} ms`)
for (const [code, messages] of reasons) {
  console.log(`\n${code}: ${messages.length}`)
  for (const message of messages.slice(0, 5)) console.log(`  ${message}`)
  if (messages.length > 5) console.log(`  and ${messages.length - 5} more`)
}
