import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, {
    readonly permissions?: Readonly<Record<string, string>>
    readonly 'timeout-minutes'?: number
    readonly steps: ReadonlyArray<{ readonly uses?: string, readonly run?: string, readonly with?: Readonly<Record<string, string>> }>
  }>>
}

const root = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }

for (const file of readdirSync(new URL('.github/workflows', root))) {
  const { permissions, jobs } = parse(read(`.github/workflows/${file}`)) as Workflow

  t.test(`${file} runs scripts that there are, within a time, by actions of a known version`, async (t) => {
    for (const { steps, 'timeout-minutes': minutes } of Object.values(jobs)) {
      t.ok(Number(minutes) <= 60)
      for (const { uses, run, with: options = {} } of steps) {
        t.match(uses ?? '@v0', /@(v\d+|[0-9a-f]{40})$/)
        for (const command of [run, options['version'], options['publish']]) {
          if (command === undefined || command === 'npm ci' || command.includes(' -w ')) continue
          t.ok(scripts[/^npm (?:run )?([\w:]+)/.exec(command)?.[1] ?? ''], command)
        }
      }
    }
  })

  t.test(`${file} may do no more than it needs`, async (t) => {
    const writes = [permissions, ...Object.values(jobs).map((job) => job.permissions ?? {})]
      .flatMap((granted) => Object.entries(granted)).filter(([, level]) => level !== 'read').map(([scope]) => scope)
    t.strictSame(writes.toSorted(), file === 'release.yml' ? ['contents', 'id-token', 'pull-requests'] : [])
    t.notMatch(read(`.github/workflows/${file}`), /NPM_TOKEN|NODE_AUTH_TOKEN|pull_request_target/)
  })
}

t.test('CI runs on each Node.js that is promised', async (t) => {
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  t.strictSame(jobs.test.strategy.matrix.node, [20, 22, 24])
})

t.test('CI runs the tests in full that try fewer cases by default', async (t) => {
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  const { env } = jobs.test.steps.find(({ run, env }: { run?: string, env?: object }) => run === 'npm test' && env !== undefined)
  for (const [name, size] of [['FUZZ_RUNS', 800], ['CONTRACT_RUNS', 2500], ['BULK_SIZE', 1000], ['CHANGES_RUNS', 200]] as const) {
    t.equal(env[name], size)
    t.match(read('.ci/run'), ` ${name}=${size} `)
  }
})
