import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer, get, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { parseEnv } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { SHOP_MIGRATIONS_PENDING } from '../src/errors.ts'
import { risksIn } from '../src/settings/risks.ts'
import { startNginx, withoutNginx } from './nginx.ts'

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

/** What compose makes of the settings of the servers: `${NAME:-default}` and `${NAME:?what it is}` become values. */
function settingsOfCompose (given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, block = ''] = /environment: &settings\n((?: {4}.*\n)+)/.exec(read('compose.yaml')) ?? []
  return Object.fromEntries([...block.matchAll(/^ {4}([A-Z\d_]+): (.*)$/gm)].map(([, name, text]) => [
    name!,
    text!.replace(/^"(.*)"$/, '$1').replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, variable, kind, rest) => {
      if (given[variable] === undefined && kind === '?') throw new RangeError(`compose.yaml wants ${variable}`)
      return given[variable] ?? rest
    })
  ]))
}

/** What compose.yaml has no default for. */
const GIVEN = {
  POSTGRES_PASSWORD: 'x',
  PUBLIC_BASE_URL: 'https://shop.example.com',
  IDP_ISSUER: 'https://idp.example.com/pool',
  IDP_M2M_CLIENT_IDS: 'none',
  API_KEY_PEPPERS: '2026:Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL',
  PAY_KEY_SECRETS: '2026:aQ8sW2dE4fR6gT0hY1jU3kI5lO7pZ9xC'
}

t.test('compose.yaml has no address without https, and takes one only where that is allowed', async (t) => {
  const { PUBLIC_BASE_URL: _, ...rest } = GIVEN
  t.throws(() => settingsOfCompose(rest), /PUBLIC_BASE_URL/)
  const http = { ...GIVEN, PUBLIC_BASE_URL: 'http://shop.example.com' }
  t.throws(
    () => settingsFromEnvironment(settingsOfCompose(http), {}, risksIn),
    /To allow this, add http-base-url to ALLOW_INSECURE/
  )
  t.doesNotThrow(() =>
    settingsFromEnvironment(settingsOfCompose({ ...http, ALLOW_INSECURE: 'http-base-url' }), {}, risksIn)
  )
})

t.test('the servers of compose.yaml start with their settings, whatever the password of the database is', async (t) => {
  const password = 'p/w+d=@:?#%&x'
  const settings = settingsOfCompose({ ...GIVEN, POSTGRES_PASSWORD: password })
  const { DATABASE_URL: url } = settingsFromEnvironment(settings, {}, risksIn)
  process.env['PGPASSWORD'] = settings['PGPASSWORD']
  t.teardown(() => {
    delete process.env['PGPASSWORD']
  })
  t.match(new pg.Client({ connectionString: url }), {
    host: 'postgres',
    port: 5432,
    user: 'shop',
    database: 'shop',
    password
  })
})

t.test('the secrets of compose come from .env or files, and the server says if one comes from neither', async (t) => {
  const { API_KEY_PEPPERS: peppers, PAY_KEY_SECRETS: _, ...rest } = GIVEN
  const file = join(t.testdir({ peppers }), 'peppers')
  const { API_KEY_PEPPERS: fromFile } = settingsFromEnvironment(
    settingsOfCompose({ ...GIVEN, API_KEY_PEPPERS: '', API_KEY_PEPPERS_FILE: file }),
    {},
    risksIn
  )
  t.strictSame(fromFile, [peppers])
  t.throws(
    () => settingsFromEnvironment(settingsOfCompose(rest), {}, risksIn),
    /API_KEY_PEPPERS .*\n.*PAY_KEY_SECRETS /
  )
  // The folder that they lie in by default.
  t.match(read('../../.gitignore'), /^examples\/shop\/secrets\/$/m)
  t.match(read('Dockerfile.dockerignore'), /^examples\/shop\/secrets\/$/m)
})

t.test('no log of compose fills the disk', async (t) => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, { logging?: unknown }>
  }
  t.strictSame(Object.keys(services).toSorted(), ['migrate', 'nginx', 'postgres', 'redis', 'shop'])
  for (const [name, { logging }] of Object.entries(services)) {
    t.strictSame(logging, { driver: 'json-file', options: { 'max-size': '20m', 'max-file': '5' } }, name)
  }
})

t.test('compose listens on this machine only, and takes the clients of people and machines', async (t) => {
  const compose = read('compose.yaml')
  const ports = [...compose.matchAll(/^ {6}- "([\d.:]*:\d+)"$/gm)].map(([, port]) => port)
  t.strictSame(ports, ['127.0.0.1:8080:8080'])
  const clients = { IDP_USER_CLIENT_IDS: 'web', IDP_M2M_CLIENT_IDS: 'erp,crm' }
  t.match(settingsOfCompose({ ...GIVEN, ...clients }), clients)
})

t.test('compose passes on every setting of .env', async (t) => {
  t.match(read('compose.yaml'), /^x-shop: &shop\n(?: .*\n)* {2}env_file:\n {4}- path: \.env\n {6}required: false\n/m)
})

t.test('.env.example names every variable of compose.yaml, and .env stays out of git and of the image', async (t) => {
  const variables = new Set([...read('compose.yaml').matchAll(/\$\{(\w+):/g)].map(([, name]) => name))
  t.strictSame(
    [...read('.env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name).toSorted(),
    [...variables].toSorted()
  )
  t.match(read('../../.gitignore'), /^\.env\*\n!\.env\.example$/m)
  t.match(read('Dockerfile.dockerignore'), /^\*\*\/\.env\*$/m)
  // A builder that does not know that file, too: the image has no directory that somebody puts settings into.
  t.strictSame(filesOfImage().map(([from]) => from).filter((from) => 'examples/shop/.env'.startsWith(from)), [])
})

/** What the Dockerfile copies from the built repository: from where, and to where below the working directory. */
function filesOfImage (): ReadonlyArray<readonly [from: string, to: string]> {
  return [...read('Dockerfile').matchAll(/^COPY --from=build \/repository\/(\S+) (\S+)$/gm)].map((
    [, from, to]
  ) => [from!, to!])
}

t.test('in the image the commands of the README run', async (t) => {
  const app = t.testdir()
  // The links below lead to the repository, where Node.js would find what the image lacks.
  t.strictSame(filesOfImage().map(([from]) => from).filter((from) => from.endsWith('node_modules/')), [
    'node_modules/',
    'examples/shop/node_modules/'
  ])
  for (const [from, to] of filesOfImage()) {
    // Of a directory its content is copied, a file goes into the directory.
    const place = resolve(app, from.endsWith('/') ? to : join(to, basename(from)))
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(fileURLToPath(new URL(`../../../${from}`, import.meta.url)), place)
  }
  const run = (...args: readonly string[]): string =>
    spawnSync('npm', ['run', '--silent', ...args], {
      cwd: app,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: app }
    }).stderr
  // As far as a command goes without a database.
  t.match(run('migrate', '--', '--nothing'), /^Usage: shop migrate/m)
  t.match(run('shop', '--', 'admin'), /^Usage:\n {2}shop admin add <subject>\n/m)
  t.match(run('shop', '--', 'reseal'), /^These settings cannot be used:/m)
  t.match(run('seed', '-w', 'examples/shop'), /^These settings cannot be used:/m)
  t.match(
    new SHOP_MIGRATIONS_PENDING('x').message,
    /Run npm run migrate at the root of the repository or in the container/
  )
})

t.test('a busy machine does not end an upgrade before nginx is started', async (t) => {
  // Compose stops nginx, and starts it only after what it waits for. It never waits again after one late health check.
  const { services } = parse(read('compose.yaml'), { merge: true }) as {
    services: { nginx: { depends_on: unknown } }
  }
  t.strictSame(services.nginx.depends_on, { shop: { condition: 'service_started' } })
  // A health check starts a process of Node.js: with other work on the machine, that took more than three seconds.
  for (const dockerfile of ['Dockerfile', '../starter/Dockerfile']) {
    t.match(read(dockerfile), /^HEALTHCHECK --interval=10s --timeout=10s /m, dockerfile)
  }
})

t.test('nginx keeps asking where the replicas are', async (t) => {
  const nginx = read('nginx-replicas.compose.conf')
  t.match(nginx, /^resolver 127\.0\.0\.11 valid=\d+s;$/m)
  t.match(nginx, /^upstream shop \{\n(?: .*\n)* {2}zone shop 64k;\n(?: .*\n)* {2}server shop:8080 resolve /m)
})

t.test('nginx logs the id of a request, compresses JSON, and still compares versions of records', {
  skip: withoutNginx
}, async (t) => {
  const seen: IncomingHttpHeaders[] = []
  const shop = createServer((request, response) => {
    seen.push(request.headers)
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', etag: '"2026-01-01T00:00:00.000Z"' })
      .end(JSON.stringify('x'.repeat(5000)))
  }).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  t.teardown(() => {
    shop.closeAllConnections()
    shop.close()
  })
  const { baseUrl, lines } = await startNginx(t, [`http://127.0.0.1:${(shop.address() as AddressInfo).port}`])
  const read = await fetch(`${baseUrl}/shops/1?canary=1`, { headers: { 'accept-encoding': 'gzip' } })
  await read.text()
  const etag = read.headers.get('etag')!
  t.strictSame([read.headers.get('content-encoding'), etag], ['gzip', 'W/"2026-01-01T00:00:00.000Z"'])
  for (const tag of [etag, '"x"', '*', '"x", W/"y"']) {
    await (await fetch(`${baseUrl}/shops/1`, { method: 'PUT', headers: { 'if-match': tag } })).text()
  }
  t.strictSame(seen.map((headers) => headers['if-match']), [
    undefined,
    '"2026-01-01T00:00:00.000Z"',
    '"x"',
    '*',
    '"x", W/"y"'
  ])
  t.match(
    lines(),
    seen.map((headers, index) => ({
      requestId: headers['x-request-id'],
      method: index === 0 ? 'GET' : 'PUT',
      path: '/shops/1',
      status: 200,
      upstreamStatus: '200'
    }))
  )
  t.ok(lines().every(({ requestId }) => /^[0-9a-f]{32}$/.test(String(requestId))))
})

t.test('nginx passes on what the shop takes, and nothing of the metrics, however the path is written', {
  skip: withoutNginx
}, async (t) => {
  const shop = createServer((request, response) => request.resume().on('end', () => response.end('passed on'))).listen(
    0,
    '127.0.0.1'
  )
  await once(shop, 'listening')
  t.teardown(() => {
    shop.closeAllConnections()
    shop.close()
  })
  const { baseUrl } = await startNginx(t, [`http://127.0.0.1:${(shop.address() as AddressInfo).port}`])
  const answer = async (path: string): Promise<number> =>
    await new Promise((resolve, reject) => {
      // fetch would tidy the path up.
      get(baseUrl, { path }, (response) => {
        response.resume()
        resolve(response.statusCode!)
      }).on('error', reject)
    })
  for (
    const path of ['/metrics', '/metrics/', '/metrics?x', '/metrics//', '//metrics/', '/%6detrics/', '/x/../metrics/']
  ) t.equal(await answer(path), 404, path)
  for (const path of ['/', '/readyz', '/mcp', '/mcp/']) t.equal(await answer(path), 200, path)

  const upload = async (path: string, size: number): Promise<number> =>
    (await fetch(`${baseUrl}${path}`, { method: 'POST', body: new Uint8Array(size) })).status
  const MIB = 1024 * 1024
  t.equal(await upload('/shops/x/imports', 16 * MIB), 200, 'a file to import')
  t.equal(await upload('/shops/x/imports/?dry_run=true', 16 * MIB), 200, 'with a slash and a query')
  t.equal(await upload('/shops/x/imports', 16 * MIB + 1), 413, 'one that the server would refuse')
  t.equal(await upload('/shops/x/products', MIB), 200, 'any other body')
  t.equal(await upload('/shops/x/products', MIB + 1), 413, 'one that is too large')
})

t.test('a shell reads the example settings as compose does', async (t) => {
  const [, ofDocs = ''] = /<<SETTINGS\n(.*?)^SETTINGS$/ms.exec(
    readFileSync(new URL('../../../docs/production.md', import.meta.url), 'utf8')
  ) ?? []
  const examples = {
    '.env.example': read('.env.example').replaceAll(/^# (?=[A-Z_]+=)/gm, ''),
    'docs/production.md': ofDocs.replaceAll('$(openssl rand -base64 32)', 'rand')
  }
  for (const [name, text] of Object.entries(examples)) {
    const file = join(t.testdir({ settings: text }), 'settings')
    const { status, stdout, stderr } = spawnSync('sh', [
      '-eac',
      `. "${file}"; exec "${process.execPath}" -p 'JSON.stringify(process.env)'`
    ], { env: {}, encoding: 'utf8' })
    t.strictSame([status, stderr], [0, ''], name)
    const expected = parseEnv(text)
    t.ok(Object.keys(expected).length > 5)
    t.match(JSON.parse(stdout), expected, name)
  }
  t.equal(parseEnv(examples['.env.example'])['PAY_SCHEDULE_CHECK'], '0 3 * * *')
})
