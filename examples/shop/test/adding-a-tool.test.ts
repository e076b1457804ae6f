import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import appOfContract from '../src/contract.ts'
import { openapiDocument, SNAPSHOT } from '../src/commands/openapi.ts'
import { VERSION } from '../src/operations/version.ts'
import { forgottenSteps, operationIn, type Seen, type SeenRoute, STEPS } from './adding-a-tool.ts'
import { importTools, toolNames } from './tool-names.ts'

const shop = fileURLToPath(new URL('..', import.meta.url))
const command = fileURLToPath(new URL('../../../packages/mcp-from-routes/bin/mcp-from-routes.js', import.meta.url))

t.test('every step of adding a tool was done', async (t) => {
  const routes: SeenRoute[] = []
  const app = await appOfContract({ onRoute: (route) => routes.push({ url: route.url, route }) })
  t.teardown(async () => await app.close())
  // What keeps the app from starting is one of the steps, or said by the app itself.
  const failure = await Promise.resolve(app.ready()).then(() => undefined, (error: Error) => error)
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    command,
    'contract',
    'check',
    './dist/contract.js',
    '--json'
  ], {
    cwd: shop,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', GITHUB_ACTIONS: '' }
  })
  const report: Seen['report'] = status === 2
    ? { drift: { ok: false }, version: { checked: false } }
    : JSON.parse(stdout)
  const tools = failure === undefined ? app.mcpTools.map(({ name }) => name) : []
  const stored = JSON.parse(readFileSync(SNAPSHOT, 'utf8'))
  const now = failure === undefined ? await openapiDocument() as Parameters<typeof operationIn>[0] : { paths: {} }
  const undescribed = tools.filter((name) => !isDeepStrictEqual(operationIn(stored, name), operationIn(now, name)))
  t.strictSame(
    forgottenSteps({ routes, tools, expected: [...toolNames, ...importTools].sort(), undescribed, report }),
    []
  )
  t.equal(failure, undefined)
  t.equal(stderr, '')
  if (!report.version.checked) t.comment(`The version was not checked: ${JSON.stringify(report.version)}`)
})

t.test("the version constant is the package's version, which changesets raise", async (t) => {
  t.equal(VERSION, JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
})

t.test('a tool whose operation is not described is found', async (t) => {
  const now = await openapiDocument() as Parameters<typeof operationIn>[0]
  t.match(operationIn(now, 'get_tag'), { operationId: 'get_tag' })
  t.equal(operationIn({ paths: {} }, 'get_tag'), undefined)
})

t.test('a step that was forgotten is named', async (t) => {
  const list: SeenRoute = {
    url: '/shops/:shop_id/brands',
    route: {
      method: 'GET',
      schema: { operationId: 'list_brands', tags: ['mcp', 'large'], response: { 200: { type: 'array' } } },
      config: { auth: 'dual' }
    }
  }
  const done: Seen = {
    routes: [list],
    tools: ['list_brands'],
    expected: ['list_brands'],
    undescribed: [],
    report: { drift: { ok: true }, version: { checked: true, ok: true } }
  }
  const without = (schema: object, url = list.url): Seen => ({
    ...done,
    routes: [{ url, route: { ...list.route, schema: { ...list.route.schema, ...schema } } }]
  })
  t.strictSame(forgottenSteps(done), [])
  for (
    const [step, seen] of [
      ['tag', without({ tags: [] })],
      ['tag', {
        ...without({ tags: [], operationId: 'list_colours' }, '/shops/:shop_id/products/:product_id/colours')
      }],
      ['large', without({ tags: ['mcp'] })],
      ['operationId', without({ operationId: undefined })],
      ['auth', { ...done, routes: [{ ...list, route: { ...list.route, config: { auth: 'jwt' } } }] }],
      ['version', {
        ...done,
        report: { drift: { ok: true }, version: { checked: true, ok: false, asked: 'minor', given: 'none' } }
      }],
      ['contract', { ...done, report: { ...done.report, drift: { ok: false } } }],
      ['openapi', { ...done, undescribed: ['list_brands'] }],
      ['names', { ...done, expected: [] }],
      ['names', { ...done, expected: ['list_brands', 'get_brand'] }]
    ] as const
  ) {
    const forgotten = forgottenSteps(seen)
    t.equal(forgotten.length, 1, STEPS[step])
    t.ok(forgotten[0]?.startsWith(`${STEPS[step]}: `), `it says ${forgotten[0]}`)
  }
})
