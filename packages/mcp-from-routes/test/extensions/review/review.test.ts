import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { run } from '../../../src/cli/run.ts'
import type { ReviewEntry } from '../../../src/extensions/review/file.ts'
import { review } from '../../../src/extensions/review/index.ts'
import { nameFor } from '../../../src/extensions/review/names.ts'
import { build, call, listen } from '../../build.ts'
import { scratch } from '../../contract/scratch.ts'

t.test('names are guessed from method and path, always the same, and never twice', (t) => {
  const taken = new Set<string>()
  for (
    const [route, name, operationId] of [
      ['GET /users', 'list_users'],
      ['GET /users/:id', 'get_user'],
      ['POST /users', 'create_user'],
      ['PATCH /users/:id', 'update_user'],
      ['PUT /users/:id', 'update_user_by_id'],
      ['DELETE /users/:id', 'delete_user'],
      ['DELETE /users', 'delete_users'],
      ['GET /users/:id/posts', 'list_user_posts'],
      ['GET /users/:id/posts/:postId', 'get_user_post'],
      ['POST /users/:id/lock', 'lock_user'],
      ['POST /auth/login', 'auth_login'],
      ['GET /health', 'get_health'],
      ['GET /', 'get_root'],
      ['GET /api', 'get_api'],
      ['GET /api/v1/users', 'list_users_v1'],
      ['GET /api/v2/users', 'list_users_v2'],
      ['GET /categories/:slug', 'get_category'],
      ['GET /userProfiles/:id', 'get_user_profile'],
      ['GET /addresses/:id.json', 'get_address_json'],
      ['GET /at/:hour(^\\d{2})h:minute', 'get_at_h'],
      ['GET /files/*', 'list_files'],
      ['QUERY /users', 'search_users'],
      ['GET /users/:name/', 'get_user_by_name'],
      ['GET /users/:other/', 'get_user_by_other'],
      ['GET /Users/:other', 'get_user_get'],
      ['GET /user/:other', 'get_user_2'],
      ['GET /文章', 'get_root_get'],
      ['GET /a', 'all_things', 'all.things'],
      [`GET /${'long/'.repeat(30)}names`, `list_${'long_'.repeat(10)}names`],
      [`GET /${'x'.repeat(90)}`, `get_${'x'.repeat(60)}`]
    ] as const
  ) {
    const [method = '', url = ''] = route.split(' ')
    const found = nameFor({ method, url, operationId, version: undefined }, taken)
    t.equal(found, name, route)
    t.match(found, /^[A-Za-z0-9_-]{1,64}$/)
    taken.add(found)
  }
  t.end()
})

/** An app whose routes are in a file, and whose review is in another. */
const APP = `
import { readFileSync } from 'node:fs'
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import mcpFromRoutes from ${JSON.stringify(new URL('../../../src/index.ts', import.meta.url).href)}
import { review } from ${JSON.stringify(new URL('../../../src/extensions/review/index.ts', import.meta.url).href)}
export default async () => {
  const app = Fastify()
  app.addContentTypeParser('multipart/form-data', (request, payload, done) => { done(null) })
  app.get('/early', async () => 1)
  await app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1.0.0' }, extensions: [review(new URL('./mcp-routes.json', import.meta.url))] })
  const add = (scope, [method, url, schema = {}, more = {}]) => scope.route({ method, url, schema, handler: async () => 1, ...more })
  await app.register(async (scope) => { for (const route of JSON.parse(readFileSync(new URL('./routes.json', import.meta.url), 'utf8'))) add(scope, route) }, { prefix: '/api' })
  return app
}
`
type Row = readonly [method: string | readonly string[], url: string, schema?: object, more?: object]

interface Reviewing {
  readonly cli: (...args: string[]) => Promise<{ readonly code: number, readonly out: string, readonly err: string }>
  readonly entries: () => ReviewEntry[]
  readonly write: (routes: readonly ReviewEntry[] | string) => void
  readonly routes: (rows: readonly Row[]) => void
  /** Changes the entry of a route by hand. */
  readonly edit: (route: string, fields: Partial<ReviewEntry>) => void
}

function reviewing (t: Test, rows: readonly Row[]): Reviewing {
  const { folder, write } = scratch(t, 'review-')
  write('app.mjs', APP)
  const file = join(folder, 'mcp-routes.json')
  const self: Reviewing = {
    cli: async (...args) => await run([...args.slice(0, 1), './app.mjs', ...args.slice(1)], { cwd: folder, env: {} }),
    entries: () => JSON.parse(readFileSync(file, 'utf8')).routes,
    write: (routes) => writeFileSync(file, typeof routes === 'string' ? routes : JSON.stringify({ review: 1, routes })),
    routes: (rows) => write('routes.json', JSON.stringify(rows)),
    edit: (route, fields) =>
      self.write(self.entries().map((entry) => entry.route === route ? { ...entry, ...fields } : entry))
  }
  self.routes(rows)
  return self
}

const USERS: readonly Row[] = [['GET', '/users'], ['GET', '/users/:id', { summary: 'One user.' }], [
  'DELETE',
  '/users/:id'
]]

t.test('a review lists every route with what its tool would be, and why it can be none', async (t) => {
  const { cli, entries } = reviewing(t, [
    ...USERS,
    ['POST', '/users', { body: { type: 'object', properties: { name: { type: 'string' } } } }],
    ['POST', '/users/:id/photo'],
    ['PUT', '/users/:id/photo', { consumes: ['multipart/form-data'], body: { type: 'object' } }],
    ['GET', '/files/*'],
    [['GET', 'POST'], '/both'],
    [['GET', 'HEAD'], '/head'],
    ['OPTIONS', '/users'],
    ['GET', '/hidden', { hide: true }],
    ['GET', '/tagged', { tags: ['mcp'], operationId: 'look', description: 'Look.' }],
    ['GET', '/users/search', { querystring: { type: 'object', properties: { 'filter[name]': { type: 'string' } } } }],
    ['GET', '/things', {}, { constraints: { version: '1.0.0' } }],
    ['GET', '/things', {}, { constraints: { version: '2.0.0' } }],
    ['GET', '/things', {}, { constraints: { host: 'a.example' } }]
  ])
  t.strictSame(await cli('review'), {
    code: 0,
    err: '',
    out: 'mcp-routes.json written: 15 routes, 1 published (about 55 tokens), 5 cannot be published.\nNew: 15.\n'
  })
  const found = Object.fromEntries(
    entries().map((
      { route, publish, name, description, found }
    ) => [route, [
      publish,
      name,
      description,
      found?.problem?.replace(/^.* cannot be a tool: |\. .*/g, '') ?? found?.hints?.join(),
      ...found?.remarks ?? []
    ]])
  )
  t.strictSame(found, {
    'GET,POST /api/both': [false, 'get_both', 'Get both: GET,POST /api/both', 'it has several methods'],
    'GET /api/files/*': [
      false,
      'list_files',
      'List files: GET /api/files/*',
      'GET /api/files/* has inputs that cannot be arguments: "*"'
    ],
    'GET /api/head': [false, 'get_head', 'Get head: GET /api/head', 'read-only,idempotent'],
    'GET /api/tagged': [true, 'look', undefined, 'read-only,idempotent'],
    'GET /api/things host=a.example': [
      false,
      'list_things',
      'List things: GET /api/things host=a.example',
      'read-only,idempotent'
    ],
    'GET /api/things version=1.0.0': [
      false,
      'list_things_v1_0_0',
      'List things v1 0 0: GET /api/things version=1.0.0',
      'read-only,idempotent'
    ],
    'GET /api/things version=2.0.0': [
      false,
      'list_things_v2_0_0',
      'List things v2 0 0: GET /api/things version=2.0.0',
      'read-only,idempotent'
    ],
    'GET /api/users': [false, 'list_users', 'List users: GET /api/users', 'read-only,idempotent'],
    'POST /api/users': [false, 'create_user', 'Create user: POST /api/users', ''],
    'DELETE /api/users/:id': [false, 'delete_user', 'Delete user: DELETE /api/users/:id', 'destructive,idempotent'],
    'GET /api/users/:id': [false, 'get_user', undefined, 'read-only,idempotent'],
    'POST /api/users/:id/photo': [
      false,
      'photo_user',
      'Photo user: POST /api/users/:id/photo',
      '',
      'It declares no body, so calls send none. Here bodies may be files (multipart/form-data): if it reads ' +
      'one, every call fails'
    ],
    'PUT /api/users/:id/photo': [
      false,
      'update_user_photo',
      'Update user photo: PUT /api/users/:id/photo',
      'it takes multipart/form-data'
    ],
    'GET /api/users/search': [
      false,
      'get_user_search',
      'Get user search: GET /api/users/search',
      found['GET /api/users/search']?.[3]
    ],
    'GET /early': [
      false,
      'get_early',
      'Get early: GET /early',
      'It is registered before mcp-from-routes: register the plugin first, with await'
    ]
  })
  t.match(found['GET /api/users/search'], [
    false,
    'get_user_search',
    String,
    /has inputs that cannot be arguments: .*filter\[name\]/
  ])
  t.strictSame(entries().find(({ route }) => route === 'GET /api/users/:id')?.found, {
    description: 'One user.',
    guessed: ['name'],
    hints: ['read-only', 'idempotent'],
    tokens: 70
  })
})

t.test('the next review keeps what people wrote, adds new routes unpublished, and drops those that are gone', async (t) => {
  const { cli, entries, routes, edit } = reviewing(t, USERS)
  t.match(await cli('contract', '--help'), { code: 0 })
  t.match(await cli('review', '--check'), {
    code: 1,
    out: /Not in the file:\n {2}GET \/api\/users\n[^]*Update it: npx mcp-from-routes review \.\/app\.mjs/
  })
  t.match(await cli('review', '--publish', 'GET /api/*'), {
    code: 0,
    out:
      /4 routes, 2 published .*\nNew: 4\.\nPublished with a guessed description:\n {2}list_users \(GET \/api\/users\)\n$/
  })
  edit('GET /api/users', { name: 'find_users', description: 'Find users.', annotations: { openWorldHint: true } })
  edit('DELETE /api/users/:id', { publish: true })
  const before = entries()
  t.match(await cli('review', '--check'), {
    code: 0,
    out: /Published and destructive:\n {2}delete_user \(DELETE \/api\/users\/:id\)\n$/
  })
  t.strictSame(entries(), before, 'nothing is written')

  routes([['GET', '/users'], ['GET', '/users/:id', { description: 'Another.' }], ['POST', '/find_users', {
    operationId: 'find_users',
    description: 'X.'
  }], ['GET', '/users/:name/late', { operationId: 'get_user' }]])
  t.match(await cli('review', '--check'), {
    code: 1,
    out:
      /Published, but no tools: the app will not start:\n {2}DELETE \/api\/users\/:id: is published, but the app has no such route\. It has GET \/api\/users\/:id\n/
  })
  t.match(await cli('review'), { code: 0, out: /New: 2\.\nPublished, but no tools/ })
  t.strictSame(
    entries().map((
      { route, publish, name, description, annotations }
    ) => [route, publish, name, description, annotations]),
    [
      ['POST /api/find_users', false, 'find_users_post', undefined, undefined],
      ['GET /api/users', true, 'find_users', 'Find users.', { openWorldHint: true }],
      ['GET /api/users/:id', true, 'get_user', undefined, undefined],
      [
        'GET /api/users/:name/late',
        false,
        'get_user_by_name',
        'Get user by name: GET /api/users/:name/late',
        undefined
      ],
      ['GET /early', false, 'get_early', 'Get early: GET /early', undefined],
      ['DELETE /api/users/:id', true, 'delete_user', 'Delete user: DELETE /api/users/:id', undefined]
    ]
  )
  edit('DELETE /api/users/:id', { publish: false })
  t.match(await cli('review'), {
    code: 0,
    out: /Removed, because the app no longer has them:\n {2}DELETE \/api\/users\/:id\n/
  })
  t.match(await cli('contract', '--help'), { code: 0 })
  t.match(JSON.parse((await cli('review', '--json')).out), {
    file: 'mcp-routes.json',
    added: [],
    gone: [],
    entries: entries()
  })
  for (
    const [args, message] of [
      [['--publish', '*', '--check'], /exclude each other/],
      [['more.mjs'], /takes one module/],
      [['--contract', 'x'], /Unknown option/]
    ] as const
  ) t.match(await cli('review', ...args), { code: 2, err: message })
})

t.test('patterns publish what they match whole, but nothing that cannot be a tool', async (t) => {
  const { cli, entries, write } = reviewing(t, [...USERS, ['GET', '/files/*'], ['GET', '/users/:id/posts']])
  for (
    const [pattern, published] of [
      ['GET /api/users', ['list_users']],
      ['*/users', ['list_users']],
      ['GET *', ['list_users', 'get_user', 'list_user_posts']],
      ['GET */:id*s', ['list_user_posts']]
    ] as const
  ) {
    const names = JSON.parse((await cli('review', '--json', '--publish', pattern)).out).entries.filter((
      entry: ReviewEntry
    ) => entry.publish).map((entry: ReviewEntry) => entry.name)
    t.strictSame(names, published, pattern)
    write(entries().map((entry) => ({ ...entry, publish: false })))
  }
  for (const pattern of ['get /api/users', '', 'GET /api/files/*']) {
    t.match(await cli('review', '--publish', pattern), { code: 1, err: /matches no route that can be a tool/ }, pattern)
  }
  write(entries().map(({ description, ...entry }) => ({ ...entry, publish: entry.name === 'list_user_posts' })))
  t.match(await cli('review', '--check'), {
    code: 1,
    out: /without a description[^]*\n {2}GET \/api\/users\/:id\/posts\n/
  })
})

t.test('an entry leaves the values that the route fixes as they are', async (t) => {
  const own = {
    querystring: { tenant: { value: 'acme' }, q: { name: 'query' } },
    headers: { 'x-tenant': { value: 'acme' } }
  }
  const start = async (given: object) => {
    const routes = join(
      t.testdir({
        'r.json': JSON.stringify({
          review: 1,
          routes: [{ route: 'POST /a', publish: true, name: 'a', description: 'A.', ...given }]
        })
      }),
      'r.json'
    )
    return await listen(t, (app) => {
      app.post('/a', {
        schema: { querystring: { type: 'object', properties: { tenant: { type: 'string' }, q: { type: 'string' } } } },
        config: { mcp: { arguments: own, annotations: { destructiveHint: true } } }
      }, async ({ query, headers }) => ({ query, header: headers['x-tenant'] }))
    }, { extensions: [review(routes)] })
  }
  const { app, url } = await start({
    arguments: { querystring: { q: { description: 'What to look for.' } } },
    annotations: { idempotentHint: true }
  })
  t.match(app.mcpTools[0], {
    annotations: { destructiveHint: true, idempotentHint: true },
    inputSchema: { properties: { query: { description: 'What to look for.' } } }
  })
  t.match(await call(url, 'a', { query: 'x' }), {
    structuredContent: { query: { tenant: 'acme', q: 'x' }, header: 'acme' }
  })
  t.match(await call(url, 'a', { tenant: 'evil' }), { isError: true })
  await t.rejects(
    start({ arguments: { querystring: { tenant: { name: 'tenant' } } } }),
    /tenant must have a name, a description/
  )
})

t.test('the file decides which routes are tools, and what they say', async (t) => {
  const file = join(
    t.testdir({
      'r.json': JSON.stringify({
        review: 1,
        routes: [
          {
            route: 'GET /users/:id',
            publish: true,
            name: 'find-user',
            description: 'Find one.',
            title: 'Find',
            annotations: { openWorldHint: true },
            arguments: { params: { id: { name: 'user' } } },
            output: false,
            examples: [{ user: 'ada' }]
          },
          { route: 'DELETE /users/:id', publish: true, name: 'remove', description: 'Remove one.' },
          { route: 'GET /tagged', publish: false, name: 'tagged' },
          { route: 'GET /gone', publish: false, name: 'remove' },
          { route: 'GET /v version=2.0.0', publish: true, name: 'second', description: 'Two.' }
        ]
      })
    }),
    'r.json'
  )
  for (const routes of [file, pathToFileURL(file)]) {
    const { app, url } = await listen(t, (app) => {
      app.get('/users/:id', {
        schema: {
          description: 'Old.',
          operationId: 'old',
          response: { 200: { type: 'object', properties: { id: { type: 'string' } } } }
        }
      }, async ({ params }) => params)
      app.delete('/users/:id', async () => ({}))
      app.get('/tagged', { schema: { tags: ['mcp'], operationId: 'tagged', description: 'T.' } }, async () => 1)
      app.get('/also', { schema: { tags: ['mcp'], operationId: 'also', description: 'A.' } }, async () => 1)
      app.get('/unlisted', async () => 1)
      for (const version of ['1.0.0', '2.0.0']) app.get('/v', { constraints: { version } }, async () => ({ version }))
    }, { extensions: [review(routes)] })
    t.strictSame(app.mcpTools.map(({ name, title, description }) => [name, title, description]), [
      ['also', undefined, 'A.'],
      ['find-user', 'Find', 'Find one.'],
      ['remove', undefined, 'Remove one.'],
      ['second', undefined, 'Two.']
    ])
    t.match(app.mcpTools[1], {
      annotations: { readOnlyHint: true, openWorldHint: true },
      outputSchema: undefined,
      inputSchema: {
        required: ['user'],
        examples: [{ user: 'ada' }]
      }
    })
    t.match(await call(url, 'find-user', { user: 'ada' }), { structuredContent: { id: 'ada' } })
    t.match(await call(url, 'second'), { structuredContent: { version: '2.0.0' } })
    t.match(await call(url, 'remove', { id: 'ada' }), { structuredContent: {} })
  }
})

t.test('a file that was edited wrongly stops startup, and says where', async (t) => {
  const entry = { route: 'GET /users/:id', publish: true, name: 'get_user', description: 'D.' }
  const of = (...routes: unknown[]): string => JSON.stringify({ review: 1, routes })
  for (
    const [text, message] of [
      ['{ "review": 1, "routes": [ }', /cannot be used: it is not JSON: .*position 27|cannot be used: it is not JSON/],
      ['<<<<<<< HEAD\n{}', /it is not JSON/],
      [JSON.stringify([entry]), /it must be \{ "review": 1, "routes": \[…\] \}, and nothing else/],
      [JSON.stringify({ review: 2, routes: [] }), /it must be/],
      [of('GET /users'), /routes\[0\] must be an object/],
      [of({ ...entry, publish: 'yes' }), /routes\[0\] \(GET \/users\/:id\)\.publish must be true or false/],
      [of({ publish: true, name: 'x' }), /routes\[0\]\.route must be a method and a path/],
      [of({ ...entry, descripton: 'X' }), /\.descripton is not a field\. Fields are route, publish/],
      [of(entry, { ...entry, name: 'other' }), /routes\[1\] \(GET \/users\/:id\) is the same route as routes\[0\]/],
      [
        of(entry, { ...entry, route: 'GET /users' }),
        /routes\[1\] \(GET \/users\)\.name is already that of GET \/users\/:id: get_user/
      ],
      [of({ ...entry, name: 'get user' }), /\.name must have 1 to 64 letters, digits, _ or -/],
      [of({ ...entry, description: ' ' }), /\.description must be a non-empty string/],
      [
        of({ ...entry, annotations: { readonlyHint: true } }),
        /\.annotations must have true or false for some of readOnlyHint/
      ],
      [of({ ...entry, confirm: true }), /\.confirm is not a field\. Fields are route, publish/],
      [of({ ...entry, examples: {} }), /\.examples must be an array of argument objects/],
      [
        of({ ...entry, arguments: { params: { key: { name: 'id' } } } }),
        /GET \/users\/:id has a wrong config\.mcp: arguments\.params\.key is not an input of the route \(published by .*r\.json\)/
      ],
      [
        of({ ...entry, output: 'most' }),
        /output must be 'full', 'brief', false or an array of field names \(published by/
      ],
      [
        of({ ...entry, route: 'GET /users/:userId' }),
        /routes\[0\] \(GET \/users\/:userId\) is published, but the app has no such route\. It has GET \/users\/:id$/
      ],
      [
        of({ ...entry, route: 'get /users/:id' }, { ...entry, route: 'HEAD /users', name: 'b' }),
        /cannot be used:\n- routes\[0\] .* It has GET \/users\/:id\n- routes\[1\] .* It has GET \/users$/
      ],
      [of({ ...entry, route: 'POST /mcp' }), /the app has no such route$/],
      [of({ ...entry, route: 'GET /users', description: undefined }), /GET \/users has no description/],
      [of({ ...entry, route: 'GET /tagged' }, { ...entry, name: 'tagged' }), undefined],
      [of({ ...entry, name: 'tagged' }), /both have the operationId tagged/],
      [
        of({ ...entry, route: 'GET /early' }),
        /registered before mcp-from-routes, so they cannot be tools: GET \/early/
      ],
      [`\uFEFF${of(entry)}`, undefined]
    ] as const
  ) {
    const routes = join(t.testdir({ 'r.json': text }), 'r.json')
    const start = async (): Promise<void> => {
      const app = await build(
        t,
        (app) => {
          for (const url of ['/users', '/users/:id']) app.get(url, async () => 1)
          app.get('/tagged', { schema: { tags: ['mcp'], operationId: 'tagged', description: 'T.' } }, async () => 1)
        },
        { extensions: [review(routes)] },
        {},
        (app) => {
          app.get('/early', async () => 1)
        }
      )
      await app.ready()
    }
    if (message === undefined) await t.resolves(start(), text)
    else await t.rejects(start(), { message }, text)
  }
  await t.rejects(build(t, () => {}, { extensions: [review('/nowhere/r.json')] }), {
    code: 'MCP_FROM_ROUTES_INVALID_REVIEW',
    message: /^\/nowhere\/r\.json cannot be used: ENOENT.*Write it with: npx mcp-from-routes review/
  })
  for (const routes of [1, '', new URL('https://a.example')]) {
    await t.rejects(build(t, () => {}, { extensions: [review(routes as string)] }), {
      code: 'MCP_FROM_ROUTES_INVALID_OPTION'
    })
  }
})

t.test('names are guessed of words that end in s and are no plurals', (t) => {
  const unnamed = { operationId: undefined, version: undefined }
  const guess = (method: string, url: string): string => nameFor({ method, url, ...unnamed }, new Set())
  t.equal(guess('POST', '/domains/:id/verify-dns'), 'verify_dns_domain')
  t.equal(guess('GET', '/dns'), 'get_dns')
  t.equal(guess('PUT', '/cors'), 'update_cors')
  t.equal(guess('GET', '/users/:id'), 'get_user')
  t.equal(guess('GET', '/urls'), 'list_urls')
  t.end()
})
