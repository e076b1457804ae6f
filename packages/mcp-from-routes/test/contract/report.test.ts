import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { changelogFromReport } from '../../src/cli/changelog.ts'
import type { ContractReport, VersionReport } from '../../src/cli/check.ts'
import { ciRunFrom, isContinuous } from '../../src/cli/ci.ts'
import { annotationsFromReport, textFromReport } from '../../src/cli/report.ts'
import { acceptedFromText } from '../../src/contract/accepted.ts'
import type { Finding } from '../../src/contract/index.ts'

const gone: Finding = { tool: 'b', bump: 'major', path: '', change: 'tool → removed', why: 'callers fail', certain: true }
const narrow: Finding = { tool: 'a', bump: 'major', path: 'input.x', change: 'pattern "^a" → "^b"', why: 'calls are refused', certain: false }
const fresh: Finding = { tool: 'c', bump: 'minor', path: '', change: 'none → new tool', why: 'callers leave it', certain: true }
const said: Finding = { tool: 'a', bump: 'patch', path: 'description', change: '"A" → "B"', why: 'calls stay', certain: true }

type Checked = Extract<VersionReport, { readonly checked: true }>
const checked = (more: Partial<Checked> = {}): Checked => ({ checked: true, ok: false, base: 'X', package: 'notes', by: 'changesets', from: '1.4.2', to: '1.4.2', asked: 'major', given: 'none', findings: [gone], accepted: [], unused: [], ...more })
const unchecked = (ok: boolean): VersionReport => ({ checked: false, ok, reason: 'R', hint: 'H' })
const reportOf = (version: VersionReport, drift: readonly Finding[] = []): ContractReport => ({ ok: version.ok && drift.length === 0, file: 'f.json', tools: 2, drift: { ok: drift.length === 0, findings: drift }, version })

const MATCHES = 'f.json matches the app: 2 tools.\n\n'
const GONE = '  major  b: tool → removed: callers fail\n'
const texts: Array<[title: string, report: ContractReport, text: string]> = [
  ['no change', reportOf(checked({ ok: true, asked: 'none', findings: [] })), `${MATCHES}No change since X.\n`],
  ['no change, and something accepted in vain', reportOf(checked({ ok: true, asked: 'none', findings: [], unused: [{ finding: 'a:\nb', reason: 'gone' }] })), `${MATCHES}No change since X.\n  accepted entry unused: a: b: gone\n`],
  ['not checked', reportOf(unchecked(true)), `${MATCHES}The version was NOT checked: R.\nH.\n`],
  ['not checked in CI', reportOf(unchecked(false)), `${MATCHES}The version was NOT checked: R.\nH.\nThis fails in CI, because changes that were not compared may break callers. To pass anyway, add --allow-unchecked.\n`],
  ['drift', reportOf(checked({ ok: true, findings: [] }), [gone, narrow]), `f.json does not match the app:\n${GONE}  major  a input.x: pattern "^a" → "^b": cannot tell, so taken as breaking: calls are refused\nIf intended, update it: npx mcp-from-routes contract write ./m.js\n\nNo change since X.\n`],
  ['the version rises enough', reportOf(checked({ ok: true, to: '2.0.0', given: 'major' })), `${MATCHES}The changes since X require major, and notes rises from 1.4.2 to 2.0.0, major:\n${GONE}`],
  ['what drift has told is not told again', reportOf(checked({ ok: true, to: '2.0.0', given: 'major' }), [gone]), `f.json does not match the app:\n${GONE}If intended, update it: npx mcp-from-routes contract write ./m.js\n\nThe changes since X require major, and notes rises from 1.4.2 to 2.0.0, major.\n`],
  ['all is accepted', reportOf(checked({ ok: true, asked: 'none', accepted: [{ finding: gone, reason: 'Y\u0007 Z' }] })), `${MATCHES}The changes since X require nothing, and notes stays 1.4.2:\n  accepted: b: tool → removed: Y Z\n`],
  ['one is accepted for a time, one is not, one is accepted in vain', reportOf(checked({ ok: true, to: '2.0.0', given: 'major', findings: [gone, narrow], accepted: [{ finding: gone, reason: 'Y', until: '2999-01-01' }], unused: [{ finding: 'q', reason: 'nothing' }] })),
    `${MATCHES}The changes since X require major, and notes rises from 1.4.2 to 2.0.0, major:\n  major  a input.x: pattern "^a" → "^b": cannot tell, so taken as breaking: calls are refused\n  accepted until 2999-01-01: b: tool → removed: Y\n  accepted entry unused: q: nothing\n`],
  ['a version that sinks', reportOf(checked({ to: '1.4.1' })), `${MATCHES}The changes since X require major, but notes goes from 1.4.2 to 1.4.1 without a change:\n${GONE}Add a changeset (npx changeset: notes, major), or revert the breaking change.\n`],
  ...([
    [{ by: 'bump', asked: 'minor' }, 'Release it as minor (--bump minor), or revert the change.'],
    [{ by: 'bump' }, 'Release it as major (--bump major), or revert the breaking change.'],
    [{ by: 'commits' }, 'Declare it in a commit message (`feat!: …`), or revert the breaking change.'],
    [{ by: 'commits', asked: 'minor' }, 'Declare it in a commit message (`feat: …`), or revert the change.'],
    [{ by: 'commits', asked: 'patch' }, 'Declare it in a commit message (`fix: …`), or revert the change.'],
    [{ by: 'version' }, 'Raise the version of notes (npm version major), or revert the breaking change.'],
    [{ skipped: 'it is private' }, 'No changeset raises the version of notes: it is private. Change that, or revert the breaking change.'],
    [{ own: 'none' }, 'Add a changeset (npx changeset: notes, major), or revert the breaking change.']
  ] as const).map(([more, remedy]): [string, ContractReport, string] => [`the remedy of ${JSON.stringify(more)}`, reportOf(checked(more)), `${MATCHES}The changes since X require ${'asked' in more ? more.asked : 'major'}, but notes stays 1.4.2:\n${GONE}${remedy}\n`]),
  ['enough, but of others', reportOf(checked({ to: '2.0.0', given: 'major', own: 'minor' })), `${MATCHES}The changes since X require major, but notes rises from 1.4.2 to 2.0.0, major, through other branches only:\n${GONE}Add a changeset on this branch (npx changeset: notes, major), or revert the breaking change. Changesets of other branches do not count.\n`]
]
for (const [title, report, text] of texts) t.test(`the report: ${title}`, async (t) => t.equal(textFromReport(report, './m.js'), text))

const stored = '{\n  "tools": {\n    "a": {},\n    "b": {}\n'
const marks: Array<[title: string, report: ContractReport, annotations: readonly string[]]> = [
  ['all is well', reportOf(checked({ ok: true, given: 'major' })), []],
  ['drift', reportOf(checked({ ok: true }), [{ ...gone, change: '100%\r\n' }, fresh]), [
    '::error file=a%3Ab%2Cc.json,line=4,title=Tool contract::Not in the file: b: 100%25%0D%0A: callers fail',
    '::error file=a%3Ab%2Cc.json,line=1,title=Tool contract::Not in the file: c: none → new tool: callers leave it'
  ]],
  ['a file that says the same in other words', { ...reportOf(checked({ ok: true })), drift: { ok: false, findings: [] } }, ['::error file=a%3Ab%2Cc.json,line=1,title=Tool contract::The file does not match the app']],
  ['a version that does not rise: only what requires it, and is not accepted', reportOf(checked({ given: 'minor', findings: [gone, narrow, fresh], accepted: [{ finding: gone, reason: 'Y' }] })), [
    '::error file=a%3Ab%2Cc.json,line=3,title=Tool contract::Requires major, but notes gets minor: a input.x: pattern "^a" → "^b": cannot tell, so taken as breaking: calls are refused'
  ]],
  ['a version that others raise', reportOf(checked({ given: 'major', own: 'none' })), ['::error file=a%3Ab%2Cc.json,line=4,title=Tool contract::Requires major, but notes gets it from other branches only: b: tool → removed: callers fail']],
  ['not checked', reportOf(unchecked(true)), ['::warning file=a%3Ab%2Cc.json,line=1,title=Tool contract::The version was not checked: R. H']],
  ['not checked in CI', reportOf(unchecked(false)), ['::error file=a%3Ab%2Cc.json,line=1,title=Tool contract::The version was not checked: R. H']]
]
for (const [title, report, annotations] of marks) t.test(`annotations: ${title}`, async (t) => t.strictSame(annotationsFromReport(report, 'a:b,c.json', stored), annotations))

const odd: Finding = { tool: 'a_b', bump: 'minor', path: 'input["`x`"]', change: '"a*b~c"\n → "[d]\\|"', why: 'see https://example.com', certain: true }
const changelogs: Array<[title: string, version: VersionReport, markdown: string]> = [
  ['not compared', unchecked(true), 'The tools were not compared: R.\n'],
  ['no change', checked({ findings: [] }), 'The tools have not changed.\n'],
  ['tool by tool, what breaks first', checked({ findings: [said, gone, narrow, { ...gone, tool: 'a' }], accepted: [{ finding: gone, reason: 'nobody_calls it' }] }), `### What callers must change

- **b**
  - tool → removed. Callers fail. Accepted: nobody\\_calls it.
- **a**
  - \`input.x\`: pattern "^a" → "^b". Perhaps: Calls are refused.
  - tool → removed. Callers fail.

### What is said differently

- **a**
  - \`description\`: "A" → "B". Calls stay.
`],
  ['what means something in Markdown', checked({ findings: [odd, { ...odd, path: '`', change: '@kim', why: 'x' }, { ...odd, path: '``a` b\n', change: 'WWW.example', why: '' }] }), `### What is new

- **a\\_b**
  - \`\` input["\`x\`"] \`\`: "a\\*b\\~c" → "\\[d\\]\\\\\\|". \`See https://example.com\`.
  - \`\` \` \`\`: \`@kim\`. X.
  - \`\`\` \`\`a\` b  \`\`\`: \`WWW.example\`. .
`]
]
for (const [title, version, markdown] of changelogs) t.test(`the changelog: ${title}`, async (t) => t.equal(changelogFromReport(version), markdown))

t.test('whether it is a CI run', async (t) => {
  for (const [env, is] of [
    [{}, false], [{ CI: '' }, false], [{ CI: '0' }, false], [{ CI: 'FALSE' }, false], [{ CI: '1' }, true], [{ CI: 'true' }, true], [{ CI: '00' }, true], [{ CI: 'falsely' }, true],
    [{ CI: 'false', GITHUB_ACTIONS: 'true' }, true], [{ TF_BUILD: '' }, false], ...['TF_BUILD', 'TEAMCITY_VERSION', 'JENKINS_URL', 'CODEBUILD_BUILD_ID'].map((name) => [{ [name]: 'x' }, true] as const)
  ] as const) t.equal(isContinuous(env), is, JSON.stringify(env))
})

t.test('what a CI run says about itself', async (t) => {
  const folder = t.testdir()
  const event = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const [one, two] = ['1'.repeat(40), '2'.repeat(64)]
  const full = event('full.json', JSON.stringify({ before: one, repository: { default_branch: 'trunk' } }))
  const none = { target: undefined, defaultBranch: undefined, before: undefined }
  for (const [env, wanted] of [
    [{}, none],
    [{ GITHUB_EVENT_PATH: '' }, none],
    [{ GITHUB_EVENT_PATH: join(folder, 'nowhere.json') }, none],
    [{ GITHUB_EVENT_PATH: event('null.json', 'null') }, none],
    [{ GITHUB_EVENT_PATH: event('odd.json', '{"repository":{"default_branch":""},"before":5}'), GITHUB_EVENT_NAME: 'push' }, none],
    [{ GITHUB_EVENT_PATH: full }, { ...none, defaultBranch: 'trunk' }],
    [{ GITHUB_EVENT_PATH: full, GITHUB_EVENT_NAME: 'push', CI_COMMIT_BEFORE_SHA: two, CI_DEFAULT_BRANCH: 'other' }, { ...none, defaultBranch: 'trunk', before: one }],
    [{ CI_COMMIT_BEFORE_SHA: two, CI_DEFAULT_BRANCH: 'other' }, { ...none, defaultBranch: 'other', before: two }],
    [{ CI_COMMIT_BEFORE_SHA: '0'.repeat(40) }, none],
    [{ CI_COMMIT_BEFORE_SHA: one.slice(1) }, none],
    [{ CI_COMMIT_BEFORE_SHA: `${two}2` }, none],
    [{ GITHUB_BASE_REF: 'a', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'b' }, { ...none, target: 'a' }],
    [{ GITHUB_BASE_REF: '', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'b' }, { ...none, target: 'b' }]
  ] as const) t.strictSame(await ciRunFrom(env), wanted, JSON.stringify(env))
})

t.test('what a file accepts', async (t) => {
  const read = (accepted: unknown) => acceptedFromText(JSON.stringify({ accepted }), 'f')
  t.strictSame(acceptedFromText('{}', 'f'), [])
  t.strictSame(read([{ finding: 'x', reason: 'y' }, { finding: 'z', reason: 'y', until: '2028-02-29' }]), [{ finding: 'x', reason: 'y' }, { finding: 'z', reason: 'y', until: '2028-02-29' }])
  for (const [accepted, message] of [
    [{}, '"accepted" is not an array'], [[null], 'accepted[0] is not an object'], [[{ finding: 'x', reason: 'y' }, 5], 'accepted[1] is not an object'],
    ...[undefined, 5, ''].map((finding) => [[{ finding, reason: 'y' }], 'accepted[0].finding is missing: the finding as the report shows it, without its explanation']),
    ...[undefined, 5, '', ' '].map((reason) => [[{ finding: 'x', reason }], 'accepted[0].reason is missing: say why it breaks nobody']),
    ...[5, '', 'soon', '2027', '2027-01', '2027-02-30', '2027-13-01', '2027-1-01', ' 2027-01-01', '2027-01-011'].map((until) => [[{ finding: 'x', reason: 'y', until }], `accepted[0].until is ${JSON.stringify(until)}, not a day such as "2027-03-31"`]),
    [[{ finding: 'x', reason: 'y', owner: 'z' }], 'accepted[0].owner is unknown. Known: finding, reason, until']
  ] as Array<[unknown, string]>) t.throws(() => read(accepted), { code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE', message: `f cannot be read as a contract: ${message}` }, message)
})
