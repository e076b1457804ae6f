// npm run json-schema: the official JSON Schema Test Suite. Each schema is published as part of a tool's input, and
// must judge each instance as its source does: as Ajv for its dialect, which is what Fastify validates with, or as the
// suite says where Ajv cannot read the source. Fails on a disagreement that baseline.json does not name with its
// reason, and on an entry of baseline.json that no longer disagrees. The suite comes from Debian, which packages it
// unchanged (commit 47958f8 of json-schema-org/JSON-Schema-Test-Suite), and is never committed.
// JSON_SCHEMA_SUITE=<folder> runs another checkout of it.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isObject } from '../../src/schema/json-schema.ts'
import { toolFromRoute } from '../../src/tool/tool.ts'

const DIALECTS = { draft7: Ajv, 'draft2019-09': Ajv2019, 'draft2020-12': Ajv2020 } as const
const LENIENT = { strict: false, validateFormats: false, logger: false } as const
/** Of Debian 12. Another version holds other cases, of which the baseline does not know. */
const PACKAGE = 'libtest-json-schema-acceptance-perl=1.019-1'
const OPTIONS = { exposedTag: 'mcp', forwardHeaders: [], maxResultBytes: 1_000_000 }

interface Group {
  description: string
  schema: unknown
  tests: Array<{ description: string, data: unknown, valid: boolean }>
}

function downloadSuite (): string {
  const cache = fileURLToPath(new URL('../../../../node_modules/.cache/json-schema-test-suite', import.meta.url))
  const suite = join(cache, 'usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance')
  if (existsSync(suite)) return suite
  mkdirSync(cache, { recursive: true })
  // apt checks the signature of what it downloads.
  execFileSync('apt-get', ['-qq', 'download', PACKAGE], { cwd: cache, stdio: 'inherit' })
  const [file = ''] = readdirSync(cache).filter((name) => name.endsWith('.deb'))
  execFileSync('dpkg-deb', ['-x', file, '.'], { cwd: cache })
  return suite
}

function readJson (file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The schemas that the cases of a draft refer to by URL, as an application adds them with `addSchema`. */
function remotesOf (suite: string, draft: string): Record<string, unknown> {
  const files = readdirSync(join(suite, 'remotes'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.json')
  )
  const own = files.filter((file) => !file.startsWith('draft') || file.startsWith(`${draft}/`))
  return Object.fromEntries(
    own.map((file) => [`http://localhost:1234/${file}`, readJson(join(suite, 'remotes', file))])
  )
}

type Judge = (value: unknown) => boolean

/** How the source judges a value; undefined where Ajv cannot read it. */
function sourceJudge (
  dialect: keyof typeof DIALECTS,
  schema: unknown,
  remotes: Record<string, unknown>
): Judge | undefined {
  const ajv = new DIALECTS[dialect]({ ...LENIENT, validateSchema: false })
  try {
    for (const [id, remote] of Object.entries(remotes)) {
      if (JSON.stringify(schema).includes('localhost:1234')) ajv.addSchema(remote as object, id)
    }
    const validate = ajv.compile(schema as object)
    return (value) => validate(value) === true
  } catch {
    return undefined
  }
}

/** How the published schema judges a value, or why there is none. */
function publishedJudge (schema: unknown, remotes: Record<string, unknown>): Judge | string {
  const id = isObject(schema) && typeof schema.$id === 'string' ? schema.$id : 'http://localhost/case.json'
  const shared = isObject(schema) ? { ...remotes, [id]: { ...schema, $id: id } } : remotes
  const body = { type: 'array', items: isObject(schema) ? { $ref: id } : schema }
  const route = {
    method: 'POST',
    url: '/',
    schema: { operationId: 'a', description: 'D.', body },
    config: {},
    constraints: {},
    websocket: false,
    keepsToSchema: true,
    fillsDefaults: false,
    shared
  }
  try {
    const validate = new Ajv2020(LENIENT).compile(toolFromRoute(route, OPTIONS).public.inputSchema)
    return (value) => validate({ body: [value] })
  } catch (error) {
    return (error as Error).message
  }
}

const suite = process.env.JSON_SCHEMA_SUITE ?? downloadSuite()
const baselineFile = fileURLToPath(new URL('baseline.json', import.meta.url))
const baseline: ReadonlyMap<string, string> = new Map(
  Object.entries(readJson(baselineFile) as Record<string, Record<string, string[]>>).flatMap(([reason, drafts]) =>
    Object.entries(drafts).flatMap(([draft, names]) => names.map((name) => [`${draft} ${name}`, reason] as const))
  )
)
const found = new Set<string>()
let failed = false
for (const draft of Object.keys(DIALECTS) as Array<keyof typeof DIALECTS>) {
  const remotes = remotesOf(suite, draft)
  const folder = join(suite, 'tests', draft)
  let cases = 0
  let differ = 0
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    for (const { description, schema, tests } of readJson(join(folder, file)) as Group[]) {
      const source = sourceJudge(draft, schema, remotes)
      const judge = publishedJudge(schema, remotes)
      cases += tests.length
      const wrong = tests.filter(({ data, valid }) =>
        typeof judge === 'string' || judge(data) !== (source?.(data) ?? valid)
      )
      if (wrong.length === 0) continue
      differ += wrong.length
      const name = `${draft} ${file.replace('.json', '')}: ${description}`
      found.add(name)
      if (baseline.has(name)) continue
      failed = true
      console.log(
        `${name}\n  ` +
          `${
            typeof judge === 'string'
              ? judge
              : wrong.map((one) => `${one.description}: judged ${String((judge as Judge)(one.data))}`).join('\n  ')
          }`
      )
    }
  }
  console.log(`${draft}: ${cases} cases, ${differ} of which differ`)
}
for (const name of baseline.keys()) {
  if (found.has(name)) continue
  failed = true
  console.log(`baseline.json names what does not differ: ${name}`)
}
process.exitCode = failed ? 1 : 0
