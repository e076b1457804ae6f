import { spawnSync } from 'node:child_process'

/*
 * `npm run release STEP`: `check` and `rehearse` try a release, `version` raises the versions and writes the
 * changelogs, `publish` publishes. docs/versioning.md says when.
 */
const typescript = (file) => ['node', '--import', './test/typescript.js', `examples/quickstart/release/${file}.ts`]
const STEPS = new Map([
  ['check', [typescript('check')]],
  ['rehearse', [typescript('rehearse')]],
  ['version', [['npx', '--no-install', 'changeset', 'version'], ['npm', 'install', '--package-lock-only']]],
  ['publish', [typescript('publishable'), ['npx', '--no-install', 'changeset', 'publish']]]
])

const [step, ...options] = process.argv.slice(2)
const commands = STEPS.get(step)
if (commands === undefined) {
  console.error(`npm run release STEP, and STEP is one of ${[...STEPS.keys()].join(', ')}`)
  process.exit(2)
}
for (const [command, ...args] of commands) {
  const { status } = spawnSync(command, [...args, ...options], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
