import t from 'tap'
import { diffContracts, textOfFinding } from '../../src/contract/index.ts'
import type { Contract, ContractTool } from '../../src/contract/index.ts'
import { changes } from './changes.ts'
import { checked } from './checks.ts'

const ANY = { type: 'object' }
const contract = (tool: Partial<ContractTool>): Contract => new Map([['t', { inputSchema: ANY, ...tool }]])

for (const { title, before, after, input, output } of [...changes, ...checked]) {
  t.test(title, async (t) => {
    const asInput = diffContracts(contract({ inputSchema: before }), contract({ inputSchema: after }))
    t.equal(asInput.bump, input, `input: ${asInput.findings.map(textOfFinding).join('; ')}`)
    const asOutput = diffContracts(contract({ outputSchema: before }), contract({ outputSchema: after }))
    t.equal(asOutput.bump, output, `output: ${asOutput.findings.map(textOfFinding).join('; ')}`)
    for (const finding of [...asInput.findings, ...asOutput.findings]) t.notMatch(textOfFinding(finding), /\n|undefined|\[object/)
  })
}

t.test('the table is as long as it is meant to be', async (t) => {
  t.ok(changes.length + checked.length >= 300, `${changes.length + checked.length} pairs`)
})
