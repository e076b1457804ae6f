// `npm run lab adopters [NAME...]`: see CONTRIBUTING.md
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packages, pack } from '../../examples/quickstart/release/packages.ts'
import { adopt, type Outcome } from './adopt.ts'
import { adopters } from './apps.ts'
import { page } from './page.ts'

const { values: { write }, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } }
})
const unknown = positionals.filter((wanted) => !adopters.some(({ name }) => name === wanted))
if (unknown.length > 0) {
  throw new Error(`There is no ${unknown.join(', ')}, but ${adopters.map(({ name }) => name).join(', ')}`)
}
const chosen = adopters.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const pageFile = new URL('../../docs/adopters.md', import.meta.url)

const directory = mkdtempSync(join(tmpdir(), 'adopters-'))
const outcomes = new Map<string, Outcome>()
try {
  const tarballs = new Map<string, string>()
  for (const one of packages) tarballs.set(one.name, await pack(one, directory))
  // Two at a time: an installation mostly waits.
  const waiting = [...chosen]
  await Promise.all(Array.from({ length: 2 }, async () => {
    for (let adopter = waiting.shift(); adopter !== undefined; adopter = waiting.shift()) {
      const start = performance.now()
      const outcome = await adopt(adopter, { directory, tarballs })
      outcomes.set(adopter.name, outcome)
      console.log(
        `${outcome.problem === undefined ? 'ok    ' : 'not ok'} ${adopter.name}, fastify ${outcome.fastify}, in ` +
          `${((performance.now() - start) / 1000).toFixed(0)} s: ${outcome.done.join(', ')}`
      )
      if (outcome.problem !== undefined) {
        console.log(`  ${outcome.problem.replaceAll('\n', '\n  ')}`)
        process.exitCode = 1
      }
    }
  }))
} finally {
  rmSync(directory, { recursive: true, force: true })
}

if (write) writeFileSync(pageFile, page(adopters, outcomes))
else if (chosen.length === adopters.length && page(adopters, outcomes) !== readFileSync(pageFile, 'utf8')) {
  console.log(
    'docs/adopters.md is not what the run shows. If that is intended, update it: npm run lab adopters -- --write'
  )
  process.exitCode = 1
}
