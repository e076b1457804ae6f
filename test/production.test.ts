import { startIdentityProvider } from 'identity-provider'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDatabase, TEST_DATABASE_URL } from '../examples/shop/test/build.ts'
import { freePort } from '../shared/free-port.ts'
import { fencesOf } from './docs/fences.ts'
import { shell } from './docs/shell.ts'
import { typed } from './docs/typed.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const withoutPostgres = TEST_DATABASE_URL === undefined
  ? 'it is about PostgreSQL: set TEST_DATABASE_URL'
  : spawnSync('pg_dump', ['--version']).error !== undefined && 'pg_dump is not installed'

t.test(
  'docs/production.md leads to an agent with a key, docs/backup.md saves, restores and rolls back',
  { skip: withoutPostgres },
  async (t) => {
    const [port, first, second] = [await freePort(), await freePort(), await freePort()]
    const baseUrl = `http://localhost:${port}`
    const [clientId, password] = ['1example23456789', 'a long password']
    const idp = await startIdentityProvider({
      port: 0,
      users: [{ username: 'kim', password }],
      resource: baseUrl,
      clientId,
      m2m: { clientId: 'machine', clientSecret: 'not used here' }
    })
    t.teardown(idp.close)
    // What a shell must not read: an unquoted & would end the URL, and leave the setting empty.
    const options = '?sslmode=disable&application_name=shop'
    const url = await createDatabase(t, TEST_DATABASE_URL!) + options
    // Made to be dropped again; the page makes it itself.
    const restored = await createDatabase(t, TEST_DATABASE_URL!)
    spawnSync('psql', ['-q', url, '-c', `drop database ${new URL(restored).pathname.slice(1)}`])

    const links = Object.fromEntries(
      ['package.json', 'examples', 'node_modules', 'packages'].map((
        name
      ) => [name, t.fixture('symlink', join(root, name))])
    )
    const directory = t.testdir({
      home: {},
      stubs: {},
      shop: { ...links, old: t.fixture('symlink', root), new: t.fixture('symlink', root) }
    })
    const aws = join(directory, 'stubs', 'aws')
    writeFileSync(aws, `#!/bin/sh\nexec node '${root}test/docs/aws.js' "$@"\n`)
    chmodSync(aws, 0o755)
    const { run } = shell(t, {
      cwd: join(directory, 'shop'),
      home: join(directory, 'home'),
      env: {
        PATH: `${join(directory, 'stubs')}:${process.env['PATH']}`,
        PORT: `${port}`,
        PASSWORD: password,
        SHUTDOWN_DELAY: '0',
        // Of the test: nobody here speaks https.
        ALLOW_INSECURE: 'http-base-url,http-issuer'
      },
      onError: () => {}
    })
    const etc = join(directory, 'etc')
    const places = [
      ['postgres://shop@db.example/shop_restored', restored + options],
      ['shop_restored', new URL(restored).pathname.slice(1)],
      ['postgres://shop@db.example/shop', url],
      ['https://shop.example', baseUrl],
      ['http://localhost:8080', baseUrl],
      ['/etc/shop', etc],
      ['https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE', idp.issuer],
      ['8081', `${first}`],
      ['8082', `${second}`]
    ] as const
    for (const page of ['production.md', 'backup.md']) {
      if (page === 'backup.md') underSystemd(join(directory, 'shop', 'shop.env'), etc)
      const fences = fencesOf(readFileSync(join(root, 'docs', page), 'utf8'))
      for (const [index, fence] of fences.entries()) {
        const line = `docs/${page}, line ${fence.line}`
        if (fence.info === 'sh') {
          await t.test(line, async (t) => await typed(t, fence, fences[index + 1], run, places))
        } else {
          t.equal(`${fences[index - 1]?.info} ${fence.info}`, 'sh text', `${line} is what a command prints`)
        }
      }
    }
  }
)

/** Puts what the first page wrote to where the unit of systemd reads it: secrets in one file each. */
function underSystemd (file: string, etc: string): void {
  mkdirSync(join(etc, 'secrets'), { recursive: true })
  const lines = readFileSync(file, 'utf8').trim().split('\n').map((line) => /^(\w+)=(.*)$/.exec(line)!)
  const isSecret = (name: string): boolean => ['DATABASE_URL', 'API_KEY_PEPPERS', 'PAY_KEY_SECRETS'].includes(name)
  for (const [, name, value] of lines.filter(([, name]) => isSecret(name!))) {
    writeFileSync(join(etc, 'secrets', name!), `${value!.replace(/^'(.*)'$/, '$1')}\n`)
  }
  writeFileSync(
    join(etc, 'shop.env'),
    lines.filter(([, name]) => !isSecret(name!)).map(([line]) => `${line}\n`).join('')
  )
}
