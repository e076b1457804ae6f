import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import {
  diffContracts,
  nameOfFinding,
  textOfFinding,
  type Contract,
  type ContractTool,
  type Finding
} from '../../src/contract/index.ts'
import { changes } from './changes.ts'
import { checked } from './checks.ts'

const ANY = { type: 'object' }
const contract = (tool: Partial<ContractTool>): Contract => new Map([['t', { inputSchema: ANY, ...tool }]])

/*
 * Users accept a finding by its name, so a name that changes breaks the checks of those who have accepted it. After a
 * change that is meant: NAMES=write npm test -- packages/mcp-from-routes/test/contract/changes.test.ts
 */
const file = new URL('names.txt', import.meta.url)
const isWritten = process.env.NAMES === 'write'
const known = isWritten ? [] : readFileSync(file, 'utf8').trimEnd().split('\n')
const found: string[] = []

function rowOf (change: string, findings: readonly Finding[]): string {
  return [
    change,
    ...findings.map((finding) => `${finding.bump} ${nameOfFinding(finding)}${finding.certain ? '' : ', perhaps'}`)
  ].join(' | ')
}

for (const [index, { title, source, before, after, input, output }] of [...changes, ...checked].entries()) {
  t.test(`${title}: ${source}`, async (t) => {
    const asInput = diffContracts(contract({ inputSchema: before }), contract({ inputSchema: after }))
    t.equal(asInput.bump, input, `input: ${asInput.findings.map(textOfFinding).join('; ')}`)
    const asOutput = diffContracts(contract({ outputSchema: before }), contract({ outputSchema: after }))
    t.equal(asOutput.bump, output, `output: ${asOutput.findings.map(textOfFinding).join('; ')}`)
    found[index] = rowOf(`${title}: ${source}`, [...asInput.findings, ...asOutput.findings])
    if (!isWritten) t.equal(found[index], known[index])
    for (const finding of [...asInput.findings, ...asOutput.findings]) {
      t.notMatch(textOfFinding(finding), /\n|undefined|\[object/)
    }
  })
}

t.test('the file holds the names of these changes and no others', async (t) => {
  if (isWritten) writeFileSync(file, `${found.join('\n')}\n`)
  else t.equal(known.length, found.length)
})

/** The ids of a source: `request-{body,property}-max-set` names two. */
function idsOf (source: string): readonly string[] {
  if (/^(JSON Schema|RFC) /.test(source)) return []
  return source.replace(/ \(.*/, '').split(' ').flatMap(expanded)
}

function expanded (text: string): readonly string[] {
  const [, head, list, tail = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(text) ?? []
  return list === undefined ? [text] : list.split(',').flatMap((one) => expanded(`${head}${one}${tail}`))
}

t.test('each of at least 300 pairs tells where it comes from', async (t) => {
  const all = [...changes, ...checked]
  const ids = all.map(({ source }) => idsOf(source))
  for (const { title, source } of all) {
    t.match(
      source,
      /^(JSON Schema (Core|Validation) §\d|RFC \d+ §\d|(request|response|\{request,response\}|new-(optional|required)?-?request)-)/,
      title
    )
  }
  for (const id of ids.flat()) t.match(id, /^(new-(optional-|required-)?)?(request|response)-[a-z-]+$/, id)
  t.ok(all.length >= 300, `${all.length} pairs`)
  t.ok(new Set(ids.flat()).size >= 250, `${new Set(ids.flat()).size} checks`)
})
