import t from 'tap'
import {
  contractFromApp,
  contractFromText,
  diffContracts,
  textFromContract,
  textOfFinding,
  type Contract
} from '../../src/contract/index.ts'
import { build, type Teardown } from '../build.ts'

/* What a contract makes of the fields that the plugin adds to records. */

interface Version {
  readonly isOpen?: true
  readonly resultHeaders?: readonly string[]
  readonly formerly?: readonly string[]
  readonly fields?: Readonly<Record<string, object>>
}

const id = { type: 'string' }
const listed = { type: 'string', enum: ['a', 'b'] }
const none = { resultHeaders: [] }
const gained = (name: string): string =>
  `minor get_note output.${name}: none → beside the fields of the route: callers that do not know it ignore it`

const cases: ReadonlyArray<readonly [title: string, before: Version, after: Version, findings: readonly string[]]> = [
  ['headers for the first time', none, {}, [gained('headers')]],
  ['of a record that declares more', { ...none, fields: { listed } }, { fields: { listed } }, [gained('headers')]],
  ['of an open record', { ...none, isOpen: true }, { isOpen: true }, []],
  ['other headers', {}, { resultHeaders: ['etag'] }, []],
  ['an old name', {}, { formerly: ['read_note'] }, [
    gained('notice'),
    'minor get_note formerly.read_note: none → old name: callers that know the tool by it find it'
  ]],
  ['the end of an old name', { formerly: ['read_note'] }, {}, [
    'major get_note formerly.read_note: old name → removed: callers that still use it fail'
  ]],
  ['no more headers', {}, none, [
    'major get_note output.headers: property → removed: callers that read it find nothing'
  ]],
  ["the end of a route's own notice", { ...none, fields: { notice: { type: 'string' } } }, none, [
    'major get_note output.notice: property → removed: callers that read it find nothing'
  ]],
  ["a route's own notice for the first time", none, { ...none, fields: { notice: { type: 'string' } } }, [
    'major get_note output.notice: not allowed → allowed: callers may get values that were impossible until now'
  ]],
  ['a field of the route', none, { ...none, fields: { headers: { type: 'integer' } } }, [
    'major get_note output.headers: not allowed → allowed: callers may get values that were impossible until now'
  ]]
]

async function contractOf (t: Teardown, { isOpen, resultHeaders, formerly, fields }: Version): Promise<Contract> {
  const record = { type: 'object', properties: { id, ...fields }, ...!isOpen && { additionalProperties: false } }
  const app = await build(t, (app) => {
    app.get('/note', {
      schema: { operationId: 'get_note', description: 'Get a note.', tags: ['mcp'], response: { 200: record } },
      config: { mcp: formerly === undefined ? {} : { formerly } }
    }, async () => ({}))
  }, resultHeaders === undefined ? {} : { resultHeaders })
  await app.ready()
  // As the file has it.
  return contractFromText(textFromContract(contractFromApp(app)!), 'tools.json')
}

for (const [title, before, after, findings] of cases) {
  t.test(`a contract sees ${title}`, async (t) => {
    const diff = diffContracts(await contractOf(t, before), await contractOf(t, after), { countDeclared: true })
    t.strictSame(diff.findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`), findings)
  })
}
