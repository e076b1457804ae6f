// Runs the official conformance suites against the fixture: npm run conformance [-- extra arguments of the suite].
// Exits with 1 when a scenario fails that its baseline does not name, or one passes that it does. The suites need Node
// 22, so npx brings its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { fixture } from './fixture.ts'

const SUITES = [
  { package: '@modelcontextprotocol/conformance@0.1.16', args: ['--suite', 'all'], baseline: 'baseline-0.1.16.yml' },
  {
    package: '@modelcontextprotocol/conformance@0.2.0-alpha.12',
    args: ['--requirements', '2025-11-25'],
    baseline: 'baseline-2025-11-25.yml'
  },
  {
    package: '@modelcontextprotocol/conformance@0.2.0-alpha.12',
    args: ['--requirements', '2026-07-28'],
    baseline: 'baseline-2026-07-28.yml'
  },
  // The requirements run the scenarios of extensions without counting them, so those of tasks are run once more. These
  // are left out: tasks-mrtr-input and tasks-mrtr-composition, where a tool asks its caller for other input than a yes,
  // which a route cannot; tasks-required-task-error, since every tool also answers clients without tasks; and
  // tasks-status-notifications, which checks nothing yet.
  ...[
    'lifecycle',
    'capability-negotiation',
    'wire-fields',
    'request-state-removal',
    'request-headers',
    'dispatch-and-envelope'
  ].map((name) => (
    {
      package: '@modelcontextprotocol/conformance@0.2.0-alpha.12',
      args: ['--scenario', `tasks-${name}`],
      baseline: undefined
    }
  ))
]

const app = await fixture()
const address = await app.listen({ host: '127.0.0.1', port: 0 })
const url = `${address.replace('127.0.0.1', 'localhost')}/mcp`
const { NODE_OPTIONS, ...env } = process.env
let failed = false
for (const { package: name, args, baseline } of SUITES) {
  console.log(`\n${name} ${args.join(' ')}`)
  const expected = baseline === undefined
    ? []
    : ['--expected-failures', fileURLToPath(new URL(baseline, import.meta.url))]
  const child = spawn('npx', [
    '-y',
    '-p',
    'node@24',
    '-p',
    name,
    'conformance',
    'server',
    '--url',
    url,
    ...args,
    ...expected,
    ...process.argv.slice(2)
  ], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  failed ||= code !== 0
}
await app.close()
process.exitCode = failed ? 1 : 0
