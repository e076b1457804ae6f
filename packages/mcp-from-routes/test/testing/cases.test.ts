import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { Answer } from '../../src/cli/arguments.ts'
import { run } from '../../src/cli/run.ts'
import { APIS, fakeModel, KEY, type Asked, type FakeModel, type Reply } from './model.ts'

/** Notes of one run: each call of the function makes an app of its own. */
const APP = `
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import mcpFromRoutes from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)}
const text = { type: 'string', minLength: 1 }
const params = { type: 'object', properties: { id: { type: 'string' } } }
export async function buildApp () {
  const app = Fastify()
  const notes = new Map([['1', 'Water the plants']])
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'notes', version: '1.0.0' },
    instructions: 'Keeps notes.',
    canUse: ({ name }, { headers }) => headers['x-api-key'] !== 'reader' || name === 'list_notes'
  })
  app.get('/notes', { schema: { operationId: 'list_notes', description: 'List all notes.', tags: ['mcp'] } },
    async () => Object.fromEntries(notes))
  app.post('/notes', {
    schema: {
      operationId: 'create_note',
      description: 'Create a note.',
      tags: ['mcp'],
      body: { type: 'object', properties: { text, tags: { type: 'array', items: { type: 'string' } } }, required: ['text'] }
    }
  }, async ({ body }) => notes.set(String(notes.size + 1), body.text) && { id: String(notes.size) })
  app.delete('/notes/:id', {
    schema: { operationId: 'delete_note', description: 'Delete a note.', tags: ['mcp'], params }
  }, async ({ params: { id } }, reply) => {
    if (!notes.delete(id)) return reply.code(404).send({ message: 'No note ' + id })
    return reply.code(204).send()
  })
  return app
}
`

interface World {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly model: FakeModel
  readonly cases: (...more: string[]) => Promise<Answer>
}

/** A folder with an app and cases, and a model that follows a script. */
async function world (
  t: Test,
  given: unknown,
  script: (asked: Asked) => Reply | Promise<Reply>,
  api: typeof APIS[number] = 'messages',
  files: Readonly<Record<string, string>> = {}
): Promise<World> {
  const cwd = t.testdir({
    'package.json': '{ "type": "module" }',
    'app.js': APP,
    'cases.json': JSON.stringify(given),
    ...files
  })
  const model = await fakeModel(t, script)
  const env = { CASES_URL: model.urls[api], CASES_MODEL: 'fake-1', CASES_KEY: KEY }
  return {
    cwd,
    env,
    model,
    cases: async (...more) => {
      const answer = await run(['cases', 'cases.json', './app.js', ...more], { cwd, env })
      t.notMatch(JSON.stringify(answer), KEY, 'the key is never shown')
      return answer
    }
  }
}

const WATER = { says: 'Remember to water the plants', calls: [{ tool: 'create_note' }] }
const water: Reply = { calls: [['create_note', { text: 'Water the plants' }]] }

for (const api of APIS) {
  t.test(`${api}: the model is shown the app's tools and instructions, and its calls are compared`, async (t) => {
    const { cases, model } = await world(
      t,
      [
        { ...WATER, never: ['delete_*'] },
        { says: 'What is there to do?', calls: [{ tool: 'list_notes', arguments: {} }] },
        { says: 'Hello', never: ['*'] }
      ],
      ({ says }) => {
        if (says === 'Hello') return { text: 'Hello!' }
        return says.startsWith('What') ? { calls: [['list_notes', {}]] } : water
      },
      api
    )
    t.strictSame(await cases('--at-once', '1'), {
      code: 0,
      out: 'pass  1/1  Remember to water the plants\n' +
        'pass  1/1  What is there to do?\n' +
        'pass  1/1  Hello\n' +
        '\n' +
        '3 of 3 cases passed. fake-1: 3 requests, 369 tokens in, 30 out.\n',
      err: ''
    })
    t.strictSame(model.asked[0], {
      says: 'Remember to water the plants',
      system: 'Keeps notes.',
      model: 'fake-1',
      tools: ['create_note', 'delete_note', 'list_notes'],
      results: [],
      before: 0
    })
  })

  t.test(`${api}: a case fails by a missing call, and by one that is never wanted`, async (t) => {
    const { cases } = await world(
      t,
      {
        never: ['delete_note'],
        cases: [
          { says: 'Buy milk', calls: [{ tool: 'create_note', schema: { properties: { text: { pattern: 'milk' } } } }] },
          { says: 'Note A', calls: [{ tool: 'create_note', arguments: { text: 'A' } }] },
          { says: 'Tidy up', calls: [{ tool: 'list_notes' }] }
        ]
      },
      ({ says }) => {
        if (says === 'Buy milk') return { text: 'I cannot shop.\n\u001b[31m' }
        if (says === 'Note A') return { calls: [['create_note', { text: 'a' }]] }
        return { calls: [['list_notes', {}], ['delete_note', { id: '1' }]], isCut: true }
      },
      api
    )
    t.strictSame(await cases(), {
      code: 1,
      out: 'FAIL  0/1  Buy milk\n' +
        '           no call of create_note that fits {"properties":{"text":{"pattern":"milk"}}}\n' +
        '           called nothing and said "I cannot shop.\\n\\u001b[31m"\n' +
        'FAIL  0/1  Note A\n' +
        '           no call of create_note with {"text":"A"}\n' +
        '           called create_note {"text":"a"}\n' +
        'FAIL  0/1  Tidy up\n' +
        '           called delete_note {"id":"1"}, never wanted\n' +
        '           called list_notes {}, delete_note {"id":"1"}, and the answer was cut at its longest\n' +
        '\n' +
        '0 of 3 cases passed. fake-1: 3 requests, 369 tokens in, 30 out.\n',
      err: ''
    })
  })

  t.test(`${api}: with steps, tools run, and the model reads their results until it calls none`, async (t) => {
    const { cases, model } = await world(
      t,
      {
        steps: 5,
        repeats: 2,
        cases: [{
          says: 'Delete the note about the plants',
          calls: [{ tool: 'delete_note', arguments: { id: '1' } }, { tool: 'list_notes' }]
        }]
      },
      ({ results }) => {
        if (results.length === 0) return { text: 'I look.', calls: [['list_notes', {}], ['delete_note', { id: '7' }]] }
        if (results.length === 2) return { calls: [['delete_note', { id: '1' }], ['forget', {}]] }
        return { text: 'Done.' }
      },
      api
    )
    t.match(await cases('--at-once', '1'), {
      code: 0,
      out: 'pass  2/2  Delete the note about the plants\n' +
        '\n' +
        '1 of 1 cases passed. fake-1: 6 requests, 738 tokens in, 60 out.\n'
    })
    const error = api === 'messages' ? 'error: ' : ''
    t.strictSame(
      model.asked.map(({ results }) => results),
      [0, 1].flatMap(() => [
        [],
        ['{"1":"Water the plants"}', `${error}404 Not Found: No note 7`],
        [
          '{"1":"Water the plants"}',
          `${error}404 Not Found: No note 7`,
          '204 No Content: done, and there is nothing to return.',
          `${error}Unknown tool: forget`
        ]
      ]),
      'each run has an app of its own'
    )
  })
}

t.test('without steps no tool runs; with them, not those of the last step', async (t) => {
  const { cases, model } = await world(
    t,
    [{ says: 'one', calls: [{ tool: 'list_notes' }] }, { says: 'two', calls: [{ tool: 'list_notes' }], steps: 2 }],
    () => ({ calls: [['list_notes', {}]] })
  )
  t.match(await cases('--at-once', '1'), { code: 0 })
  t.strictSame(model.asked.map(({ says, results }) => [says, results.length]), [['one', 0], ['two', 0], ['two', 1]])
})

t.test('chat: what is no JSON is no call that was expected, and the model is told', async (t) => {
  const { cases, model } = await world(
    t,
    [{ ...WATER, steps: 2 }],
    ({ results }) =>
      results.length === 0 ? { calls: [['create_note', '{"text": "x'], ['list_notes', '']] } : { text: 'x' },
    'chat'
  )
  t.match(await cases(), {
    code: 1,
    out: /no call of create_note\n +called create_note \{"text": "x, list_notes \{\}\n/
  })
  t.strictSame(model.asked[1]?.results, ['The arguments are no JSON object', '{"1":"Water the plants"}'])
})

t.test('of repeats, a share must pass', async (t) => {
  for (const [share, code] of [[0.5, 0], [0.75, 0], [0.76, 1], [1, 1]] as const) {
    const { cases } = await world(
      t,
      { repeats: 4, cases: [{ ...WATER, share }] },
      ({ before }) => before === 2 ? { text: 'No.' } : water
    )
    const answer = await cases('--at-once', '1')
    t.equal(answer.code, code, String(share))
    t.match(answer.out, /^(?:pass|FAIL) {2}3\/4 {2}Remember to water the plants\n {6}1 × {2}no call of create_note\n/)
  }
})

t.test('runs that fail alike are told once', async (t) => {
  const { cases } = await world(
    t,
    { repeats: 3, cases: [WATER] },
    ({ before }) => before === 1 ? water : { text: 'No.' }
  )
  t.match(await cases('--at-once', '3'), {
    code: 1,
    out: 'FAIL  1/3  Remember to water the plants\n' +
      '      2 ×  no call of create_note\n' +
      '           called nothing and said "No."\n'
  })
})

t.test('callers differ by their headers', async (t) => {
  const { cases, model } = await world(
    t,
    {
      headers: { 'x-api-key': 'reader' },
      cases: [{ says: 'list', calls: [{ tool: 'list_notes' }], never: ['create_note'] }, { ...WATER, headers: {} }]
    },
    ({ says }) => says === 'list' ? { calls: [['list_notes', {}]] } : water
  )
  t.match(await cases('--at-once', '1'), { code: 0 })
  t.strictSame(model.asked.map(({ tools }) => tools), [['list_notes'], ['create_note', 'delete_note', 'list_notes']])
})

t.test('--only chooses cases, and --json prints the report as JSON', async (t) => {
  const { cases, model } = await world(
    t,
    { repeats: 2, cases: [WATER, { says: 'list', calls: [{ tool: 'list_notes' }] }] },
    () => ({ text: 'No.', usage: { input_tokens: 1 } })
  )
  const { code, out } = await cases('--only', 'water', '--json')
  t.equal(code, 1)
  t.strictSame(JSON.parse(out), {
    ok: false,
    model: 'fake-1',
    requests: 2,
    tokens: null,
    cases: [{
      says: 'Remember to water the plants',
      ok: false,
      isDone: true,
      passed: 0,
      needed: 2,
      runs: 2,
      failures: [{ times: 2, faults: ['no call of create_note'], did: 'called nothing and said "No."' }]
    }]
  })
  t.equal(model.asked.length, 2)
  t.match((await cases('--only', 'water')).out, /fake-1: 2 requests, the endpoint reports no tokens/)
  t.match(await cases('--only', 'Water'), { code: 2, err: 'cases.json: no case says "Water"\n' })
})

for (const api of APIS) {
  t.test(`${api}: an endpoint that limits requests is asked again when it says`, async (t) => {
    for (const status of [429, 503]) {
      const { cases, model } = await world(
        t,
        [WATER],
        ({ before }) => before < 2 ? { status, headers: { 'retry-after': '0' } } : water,
        api
      )
      t.match(await cases(), { code: 0, out: /1 request,/ })
      t.equal(model.asked.length, 3)
    }
  })

  t.test(`${api}: what the endpoint refuses ends with 2 and a sentence`, async (t) => {
    const hint = { 'retry-after': '0' }
    for (
      const [reply, message, times = 1] of [
        [
          { status: 429, headers: hint },
          'limits requests: 4 tries in a row were answered 429 Too Many Requests: as the script says',
          4
        ],
        [
          { status: 429, headers: { 'retry-after': '3600' } },
          'limits requests, and says to wait 3600 s, more than the 60 s that are waited for: 429 Too Many Requests: ' +
          'as the script says'
        ],
        [{ status: 403 }, 'does not accept CASES_KEY: 403 Forbidden: as the script says'],
        [{ status: 404 }, 'refused the request: 404 Not Found: as the script says'],
        [{ status: 500 }, 'failed: 500 Internal Server Error: as the script says'],
        [{ status: 502, body: `<p>\u001b[31m${KEY}` }, 'failed: 502 Bad Gateway: <p>[U+001B][31m[key]'],
        [
          { status: 307, headers: { location: '/elsewhere' } },
          'answered 307 Temporary Redirect, which is not followed'
        ],
        [
          { status: 200, body: 'hi' },
          `answered 200 OK with what is no answer of the ${api === 'chat' ? 'Chat Completions' : 'Messages'} API: hi`
        ],
        [
          { status: 200, body: { choices: [], content: 1 } },
          /^answered 200 OK with what is no answer of the .*"choices":\[\]/
        ],
        ['silence', 'did not answer within 0.2 s']
      ] as ReadonlyArray<readonly [reply: Reply, message: string | RegExp, times?: number]>
    ) {
      const { cases, model } = await world(t, [WATER], () => reply, api)
      const { code, err } = await cases('--timeout', reply === 'silence' ? '0.2' : '60')
      t.equal(code, 2)
      t.match(err.replace(`${model.urls[api]} `, '').trimEnd(), message)
      t.equal(model.asked.length, times)
    }
  })

  t.test(`${api}: a wrong key, which the endpoint repeats, and a port that is closed`, async (t) => {
    const { cwd, env, model } = await world(t, [WATER], () => water, api)
    const key = 'another-key'
    t.strictSame(await run(['cases', 'cases.json', './app.js'], { cwd, env: { ...env, CASES_KEY: key } }), {
      code: 2,
      out: '',
      err: `${model.urls[api]} does not accept CASES_KEY: 401 Unauthorized: Incorrect API key provided: [key]\n`
    })
    const url = `http://127.0.0.1:1/v1${api === 'chat' ? '/chat/completions' : '/messages'}`
    t.match(await run(['cases', 'cases.json', './app.js'], { cwd, env: { ...env, CASES_URL: url } }), {
      code: 2,
      err: /^http:\/\/127\.0\.0\.1:1\/v1\/[a-z/]+ cannot be reached: (?:ECONNREFUSED|bad port)\n$/
    })
  })
}

t.test('what was paid for before the endpoint failed is shown', async (t) => {
  const { cases, model } = await world(
    t,
    { repeats: 2, cases: [WATER, { ...WATER, says: 'Again' }, { ...WATER, says: 'And again' }] },
    ({ before }) => before === 3 ? { status: 500 } : water
  )
  t.strictSame(await cases('--at-once', '1'), {
    code: 2,
    out: 'pass  2/2  Remember to water the plants\n' +
      '?     1/1  Again\n' +
      '?     0/0  And again\n' +
      '\n' +
      '1 of 3 cases passed. fake-1: 3 requests, 369 tokens in, 30 out.\n',
    err: `${model.urls.messages} failed: 500 Internal Server Error: as the script says\n`
  })
  t.equal(model.asked.length, 4, 'nothing is sent after the failure')
})

t.test('names that the app does not have are found before a model is asked', async (t) => {
  for (
    const [one, message] of [
      [
        { calls: [{ tool: 'create_notes' }] },
        "calls[0].tool names create_notes, which this caller's model is not shown. It is shown create_note, " +
        'delete_note, list_notes'
      ],
      [
        { calls: [{ tool: 'list_notes' }, { tool: 'create_note', arguments: { txt: 'x' } }] },
        'calls[1].arguments has txt, which create_note does not take'
      ],
      [
        { calls: [{ tool: 'create_note', schema: { properties: { text: { pattern: '(' } } } }] },
        /^cases\.json: case 2 \("Do it"\): calls\[0\]\.schema cannot be used: .*regular expression/
      ],
      [{ never: ['delete_notes'] }, 'never has delete_notes, but no tool has such a name'],
      [{ never: ['remove_*'] }, 'never has remove_*, but no tool has such a name']
    ] as const
  ) {
    const { cases, model } = await world(t, [WATER, { says: 'Do it', ...one }], () => water)
    const err = typeof message === 'string' ? `cases.json: case 2 ("Do it"): ${message}\n` : message
    t.match(await cases('--only', 'water'), { code: 2, out: '', err })
    t.equal(model.asked.length, 0)
  }
})

t.test('a module of cases, and what is none', async (t) => {
  const list = JSON.stringify([WATER])
  const files = {
    'value.js': `export default ${list}`,
    'function.js': `export default async () => ({ cases: ${list} })`,
    'throws.js': "export default () => { throw new Error('no data') }",
    'none.js': 'export const cases = []',
    'cases.yaml': 'a: 1',
    'broken.json': '{'
  }
  const { cwd, env, model } = await world(t, [WATER], () => water, 'messages', files)
  for (
    const [name, code, err] of [
      ['value.js', 0, ''],
      ['function.js', 0, ''],
      ['throws.js', 2, 'throws.js: cannot be read: no data\n'],
      ['none.js', 2, /^none\.js: must be an object with never, .*, cases, path\n$/],
      ['away.js', 2, /^away\.js: cannot be read: Cannot find module/],
      ['cases.yaml', 2, 'cases.yaml: must be JSON, or a module that exports the same as its default\n'],
      ['broken.json', 2, /^broken\.json: cannot be read: /],
      ['gone.json', 2, /^gone\.json: cannot be read: ENOENT/]
    ] as const
  ) t.match(await run(['cases', name, './app.js'], { cwd, env }), { code, err }, name)
  t.equal(model.asked.length, 2)
})

t.test('an app that is not made anew cannot have steps', async (t) => {
  const { cwd, env, model } = await world(t, [{ ...WATER, steps: 2 }], () => water, 'messages', {
    'one.js': "import { buildApp } from './app.js'\nexport default await buildApp()",
    'one-step.json': JSON.stringify([WATER])
  })
  const cases = async (file: string): Promise<Answer> => await run(['cases', file, 'one.js'], { cwd, env })
  t.match(await cases('cases.json'), {
    code: 2,
    err: /^cases\.json: has cases with steps, each run of which needs an app of its own: one\.js must export a function/
  })
  t.equal(model.asked.length, 0)
  t.match(await cases('one-step.json'), { code: 0 })
})

/** Runs the command as users do. */
async function typed (cwd: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Answer> {
  const command = fileURLToPath(new URL('../../bin/mcp-from-routes.js', import.meta.url))
  const child = spawn(process.execPath, [command, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  const [code] = await once(child, 'close') as [number]
  return { code, out, err }
}

t.test('the exit status is 0, 1 or 2, and without a key nothing is sent', async (t) => {
  let reply: Reply = water
  const { cwd, env, model } = await world(t, [WATER], () => reply)
  const line = ['cases', 'cases.json', './app.js'] as const
  t.match(await typed(cwd, env, ...line), { code: 0, out: /^pass/, err: '' })
  reply = { text: 'No.' }
  t.match(await typed(cwd, env, ...line), { code: 1, out: /^FAIL/, err: '' })
  reply = { status: 500 }
  t.match(await typed(cwd, env, ...line), { code: 2, err: /failed: 500/ })
  const { length } = model.asked
  t.strictSame(await typed(cwd, { ...env, CASES_KEY: '' }, ...line), {
    code: 2,
    out: '',
    err: 'there is no key of the endpoint. Give it as CASES_KEY, which a local model may ignore. Nothing was sent\n'
  })
  t.equal(model.asked.length, length)
})
