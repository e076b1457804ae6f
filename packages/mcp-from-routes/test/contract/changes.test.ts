import t from 'tap'
import { diffContracts, textOfFinding } from '../../src/contract/index.ts'
import type { Contract, ContractTool } from '../../src/contract/index.ts'
import { changes } from './changes.ts'
import { checked } from './checks.ts'

const ANY = { type: 'object' }
const contract = (tool: Partial<ContractTool>): Contract => new Map([['t', { inputSchema: ANY, ...tool }]])

for (const { title, source, before, after, input, output } of [...changes, ...checked]) {
  t.test(`${title}: ${source}`, async (t) => {
    const asInput = diffContracts(contract({ inputSchema: before }), contract({ inputSchema: after }))
    t.equal(asInput.bump, input, `input: ${asInput.findings.map(textOfFinding).join('; ')}`)
    const asOutput = diffContracts(contract({ outputSchema: before }), contract({ outputSchema: after }))
    t.equal(asOutput.bump, output, `output: ${asOutput.findings.map(textOfFinding).join('; ')}`)
    for (const finding of [...asInput.findings, ...asOutput.findings]) t.notMatch(textOfFinding(finding), /\n|undefined|\[object/)
  })
}

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
  for (const { title, source } of all) t.match(source, /^(JSON Schema (Core|Validation) §\d|RFC \d+ §\d|(request|response|\{request,response\}|new-(optional|required)?-?request)-)/, title)
  for (const id of ids.flat()) t.match(id, /^(new-(optional-|required-)?)?(request|response)-[a-z-]+$/, id)
  t.ok(all.length >= 300, `${all.length} pairs`)
  t.ok(new Set(ids.flat()).size >= 250, `${new Set(ids.flat()).size} checks`)
})
