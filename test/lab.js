import { spawnSync } from 'node:child_process'

/*
 * `npm run lab NAME [-- OPTION...]`: what takes minutes, and needs programs, applications or servers that are not ours.
 * CONTRIBUTING.md says what each does.
 */
const typescript = ['--import', './test/typescript.js']
const LABS = new Map([
  ['adopters', [...typescript, 'test/adopters/index.ts']],
  ['clients', [...typescript, 'test/clients/index.ts']],
  ['drills', [...typescript, 'examples/shop/drills/index.ts']],
  ['pictures', ['test/run.js', 'examples/console/test/pictures.test.ts']],
  ['stores', ['examples/quickstart/stores/check.js']]
])

const [name, ...options] = process.argv.slice(2)
const program = LABS.get(name)
if (program === undefined) {
  console.error(`npm run lab NAME, and NAME is one of ${[...LABS.keys()].join(', ')}`)
  process.exit(2)
}
const { status } = spawnSync(process.execPath, [...program, ...options], {
  stdio: 'inherit',
  env: { ...process.env, ...name === 'pictures' && { PICTURES: 'yes' } }
})
process.exitCode = status ?? 1
