import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { run as runCommand } from '../../src/cli/run.ts'
import { scratch } from './scratch.ts'

/*
 * The steps of the action as a runner takes them: its scripts in bash, with the variables that the runner sets, against
 * a stand-in for GitHub's API.
 */

const action = fileURLToPath(new URL('../../../../.github/actions/contract/', import.meta.url))
const { inputs: declared, runs: { steps } } = parse(readFileSync(join(action, 'action.yml'), 'utf8')) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>,
  readonly runs: {
    readonly steps: ReadonlyArray<
      {
        readonly id?: string,
        readonly if?: string,
        readonly run: string,
        readonly env: Readonly<Record<string, string>>,
        readonly 'working-directory'?: string
      }
    >
  }
}

interface Comment {
  readonly id: number
  readonly user: { readonly type: string }
  body: string
}

/** GitHub's API for the comments of pull request 7. */
async function github (t: Test) {
  const comments: Comment[] = []
  const asked: string[] = []
  const refusal = { status: 0 }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const body: { body?: string } = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}')
    const answer = (status: number, content: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    }
    asked.push(`${request.method} ${pathname}`)
    if (request.headers.authorization !== 'Bearer s3cret') return answer(401, {})
    if (request.method === 'GET' && pathname === '/repos/o/r/issues/7/comments') {
      const size = Number(searchParams.get('per_page'))
      return answer(200, comments.slice((Number(searchParams.get('page')) - 1) * size).slice(0, size))
    }
    if (refusal.status > 0) return answer(refusal.status, { message: 'Resource not accessible by integration' })
    const [, id] = /^\/repos\/o\/r\/issues\/comments\/(\d+)$/.exec(pathname) ?? []
    const known = comments.find((comment) => comment.id === Number(id))
    if (request.method === 'PATCH' && known !== undefined) {
      known.body = body.body ?? ''
      return answer(200, known)
    }
    if (request.method !== 'POST' || pathname !== '/repos/o/r/issues/7/comments') return answer(404, {})
    comments.push({ id: comments.length + 1, user: { type: 'Bot' }, body: body.body ?? '' })
    answer(201, {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, comments, asked, refusal }
}

const app = `
import { readFileSync } from 'node:fs'
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import mcpFromRoutes from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)}
export default async () => {
  const app = Fastify()
  await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' } })
  for (const [name, description] of Object.entries(JSON.parse(readFileSync(new URL('tools.json', import.meta.url), 'utf8')))) {
    app.get('/' + name, { schema: { operationId: name, description, tags: ['mcp'] } }, async () => [])
  }
  return app
}
`

/**
 * A folder whose `npx` has its command run in this process, since npx and the start of the program take ten times as
 * long as the command. It passes on the arguments, and answers as the command does.
 */
async function inThisProcess (
  t: Test,
  temp: string,
  surroundings: () => Parameters<typeof runCommand>[1]
): Promise<string> {
  const server = createSocketServer((socket) => {
    let sent = ''
    socket.setEncoding('utf8').on('data', async (data: string) => {
      sent += data
      const [count, ...args] = sent.split('\0').slice(0, -1)
      if (args.length < Number(count)) return
      t.strictSame(args.slice(0, 3), ['--no', '--', 'mcp-from-routes'])
      const { code, out, err } = await runCommand(args.slice(3), surroundings())
      writeFileSync(join(temp, 'out'), out)
      writeFileSync(join(temp, 'err'), err)
      socket.end(`${code}\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  mkdirSync(join(temp, 'bin'))
  writeFileSync(
    join(temp, 'bin/npx'),
    `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}
printf '%s\\0' "$#" "$@" >&3
read -r code <&3
cat '${temp}/out'
cat '${temp}/err' >&2
exit "$code"
`,
    { mode: 0o755 }
  )
  return join(temp, 'bin')
}

/** A pull request of a repository whose tools are a and b, and the action in it. */
async function pullRequest (t: Test) {
  const repo = scratch(t, 'contract-action-')
  const api = await github(t)
  repo.git('init', '-q')
  repo.modules()
  repo.write('package.json', '{ "name": "top", "private": true }')
  repo.write('api/package.json', '{ "name": "notes", "version": "1.4.2", "type": "module" }')
  repo.write('api/app.js', app)
  const tools = async (of: Record<string, string>): Promise<void> => {
    repo.write('api/tools.json', JSON.stringify(of))
    await repo.run(['write', './app.js'], { cwd: 'api' })
  }
  await tools({ a: 'A.', b: 'B.' })
  repo.commit()
  repo.git('checkout', '-qb', 'change')
  let surroundings: Parameters<typeof runCommand>[1]
  const stubs = await inThisProcess(t, join(repo.folder, '.git'), () => surroundings)
  const title = 'X"; touch pwned; echo "$(touch pwned) `touch pwned` $' + '{{ github.token }}'
  repo.write('.git/event.json', JSON.stringify({ pull_request: { number: 7, title } }))
  return {
    ...api,
    repo,
    tools,
    /**
     * Runs its steps; a step that fails ends them.
     *
     * @param isReal - whether npx is npx, and runs the command as it was built
     */
    async act (given: Record<string, string> = {}, event = 'pull_request', isReal = false) {
      const outputs: Record<string, string> = {}
      const values: Record<string, string> = {
        'github.token': 's3cret',
        ...Object.fromEntries(
          Object.entries({
            ...Object.fromEntries(Object.entries(declared).map(([name, { default: value = '' }]) => [name, value])),
            module: './app.js',
            'working-directory': 'api',
            ...given
          }).map(([name, value]) => [`inputs.${name}`, value])
        )
      }
      const resolved = (text: string): string =>
        text.replace(/\$\{\{ (.+?) \}\}/g, (_, name: string) => values[name] ?? outputs[name] ?? t.fail(name) as never)
      let said = ''
      for (const { id, if: condition, run, env, 'working-directory': folder = '.' } of steps) {
        if (condition !== undefined) {
          t.equal(condition, "inputs.comment == 'true' && github.event_name == 'pull_request'")
        }
        if (condition !== undefined && (values['inputs.comment'] !== 'true' || event !== 'pull_request')) continue
        writeFileSync(join(repo.folder, '.git/output'), '')
        // Not one that waits: the stand-in answers in this process.
        surroundings = {
          cwd: join(repo.folder, resolved(folder)),
          env: {
            PATH: isReal ? process.env['PATH'] : `${stubs}:${process.env['PATH']}`,
            HOME: repo.folder,
            GIT_CONFIG_NOSYSTEM: '1',
            CI: 'true',
            GITHUB_ACTIONS: 'true',
            GITHUB_EVENT_NAME: event,
            GITHUB_BASE_REF: event === 'pull_request' ? 'main' : '',
            GITHUB_HEAD_REF: title,
            GITHUB_EVENT_PATH: join(repo.folder, '.git/event.json'),
            GITHUB_REPOSITORY: 'o/r',
            GITHUB_API_URL: api.url,
            GITHUB_ACTION_PATH: action,
            GITHUB_OUTPUT: join(repo.folder, '.git/output'),
            GITHUB_STEP_SUMMARY: join(repo.folder, '.git/summary'),
            RUNNER_TEMP: join(repo.folder, '.git'),
            ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, resolved(value)]))
          }
        }
        const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], surroundings)
        for (const stream of [child.stdout, child.stderr]) {
          stream.on('data', (data) => {
            said += String(data)
          })
        }
        const [code] = await once(child, 'close')
        for (const line of readFileSync(join(repo.folder, '.git/output'), 'utf8').split('\n')) {
          const [name, value] = line.split(/=(.*)/)
          if (value !== undefined) outputs[`steps.${id}.outputs.${name}`] = value
        }
        if (code !== 0) return { code, said }
      }
      return { code: 0, said }
    },
    summary: () => readFileSync(join(repo.folder, '.git/summary'), 'utf8')
  }
}

t.test('a pull request gets one comment, which follows it', async (t) => {
  const { act, tools, comments, asked, repo, summary } = await pullRequest(t)
  repo.commit()
  t.match(await act(), { code: 0, said: /No change since/ })
  t.strictSame(comments, [], 'nothing to say')

  await tools({ a: 'A.' })
  repo.commit()
  t.match(await act({}, 'pull_request', true), {
    code: 1,
    said: /require major, but notes stays 1\.4\.2(.|\n)*::error file=api\/contract\/tools\.json/
  })
  t.equal(comments.length, 1)
  t.match(
    comments[0]?.body,
    /^<!-- mcp-from-routes contract [0-9a-f]{16} -->\n## Tool contract\n\n### What callers must change\n\n- \*\*b\*\*\n {2}- tool → removed\. .*\n\n`api\/contract\/tools\.json`\n$/
  )
  t.match(summary(), /### What callers must change\n\n- \*\*b\*\*/)

  await tools({ a: 'A.', b: 'B.', c: 'C.' })
  repo.commit()
  t.match(await act({ options: '--bump  minor' }), { code: 0, said: /rises from 1\.4\.2 to 1\.5\.0, minor/ })
  t.equal(comments.length, 1)
  t.match(comments[0]?.body, /### What is new\n\n- \*\*c\*\*/)
  asked.length = 0
  await act({ options: '--bump minor' })
  t.strictSame(asked, ['GET /repos/o/r/issues/7/comments'], 'the same again is not written')

  await tools({ a: 'A.', b: 'B.' })
  repo.commit()
  await act()
  t.match(comments, [{ body: /The tools have not changed\.\n/ }])
  t.equal(comments.length, 1)
})

t.test("its comment is found among many, and is nobody else's", async (t) => {
  const { act, tools, comments, repo } = await pullRequest(t)
  await tools({ a: 'A.' })
  repo.commit()
  await act()
  const [own] = comments as [Comment]
  comments.unshift(
    ...Array.from(
      { length: 230 },
      (_, n): Comment => ({
        id: 1000 + n,
        user: { type: n === 0 ? 'User' : 'Bot' },
        body: n === 0 ? own.body : 'Coverage'
      })
    )
  )
  await tools({ b: 'B.' })
  repo.commit()
  await act()
  t.equal(comments.length, 231)
  t.match(own.body, /\*\*a\*\*/)
  t.match(comments[0]?.body, /\*\*b\*\*/, 'somebody wrote the mark, and keeps the comment')
  await act({ contract: 'contract/../contract/tools.json' })
  t.equal(comments.length, 231, 'the same file by another path')
})

t.test('what a pull request says is never run, and notifies nobody', async (t) => {
  const { act, tools, comments, repo } = await pullRequest(t)
  const hostile =
    'See @team, #1, <img src=x onerror=alert(1)>, &#64;all, https://evil.example `touch pwned` $(touch pwned) ' +
    '--> **x**\n\n# X'
  await tools({ a: hostile, b: 'B.' })
  repo.commit()
  await act({ options: '--bump patch $(touch pwned) ; touch pwned' })
  await act({ options: '--bump patch' })
  t.equal(comments.length, 1)
  t.notOk(repo.git('status', '--porcelain', '--ignored').includes('pwned'))
  // All of it is inside of code, on one line.
  const line = comments[0]?.body.split('\n').find((text) => text.includes('@team')) ?? ''
  t.match(
    line,
    /^ {2}- `description`: ``` ?"A\." → .*@team.*\(1\).* ```\. |^ {2}- `description`: `` "A\." → .*@team.* ``\. /
  )
  t.notMatch(comments[0]?.body.split('\n').filter((text) => text !== line).join('\n'), /team|evil|onerror/)
})

t.test('a comment that cannot be written fails nothing', async (t) => {
  const { act, tools, repo, refusal } = await pullRequest(t)
  await tools({ a: 'A.', b: 'B.', c: 'C.' })
  repo.commit()
  refusal.status = 403
  t.match(
    await act({ options: '--bump minor' }),
    { code: 0, said: /::notice::.*its token may not comment/ },
    'as from a fork'
  )
  refusal.status = 502
  const answer = await act({ options: '--bump minor' })
  t.match(answer, { code: 0, said: /::warning::.*the comment failed \(502\)/ })
  t.notMatch(answer.said, /s3cret/)
})

t.test('without comments, or without a pull request, it only checks', async (t) => {
  const { act, tools, repo, asked } = await pullRequest(t)
  await tools({ a: 'A.' })
  repo.commit()
  t.equal((await act({ comment: 'false' })).code, 1)
  t.equal((await act({}, 'push')).code, 1)
  t.equal((await act({}, 'pull_request_target')).code, 1)
  t.strictSame(asked, [])
  t.match(await act({ module: './nothing.js' }), { code: 2, said: /\.\/nothing\.js cannot be loaded/ })
})

t.test('a changelog of any length fits into a comment', async (t) => {
  const { act, tools, repo, comments } = await pullRequest(t)
  await tools(Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`tool_with_a_rather_long_name_${n}`, 'D.'])))
  repo.commit()
  await act()
  t.ok((comments[0]?.body.length ?? 0) < 65_536)
  t.match(comments[0]?.body, /\n\nThe rest is in the summary of the run\.\n\n`api/)
})
