import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { STOPPING } from '../src/commands/serve.ts'
import { freePort } from '../../../shared/free-port.ts'
import { SECRET_SETTINGS } from '../src/settings/files.ts'
import { settings } from '../src/settings/settings.ts'
import { createDatabase, TEST_DATABASE_URL } from './build.ts'

const unit = readFileSync(new URL('../deploy/shop@.service', import.meta.url), 'utf8')
const withoutSystemd = spawnSync('systemd-analyze', ['--version']).status !== 0 && 'systemd-analyze is not installed'

/** All values of an option. */
const valuesOf = (option: string): readonly string[] =>
  [...unit.matchAll(new RegExp(`^${option}=(.*)$`, 'gm'))].map(([, value]) => value!)

/** The variables that the unit sets, before systemd replaces `%i` and `%d`. */
const variables: Readonly<Record<string, string>> = Object.fromEntries(
  valuesOf('Environment').flatMap((line) => line.split(' ')).map((pair) => pair.split('=') as [string, string])
)

/** The unit in a folder, with the path of Node.js on this machine, as a drop-in would have it. */
function installed (t: Test, name: string): string {
  return join(t.testdir({ [name]: unit.replaceAll('/usr/bin/node', process.execPath) }), name)
}

t.test('systemd takes the unit without a warning, and rates it well', { skip: withoutSystemd }, async (t) => {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', installed(t, 'shop@8081.service')], {
    encoding: 'utf8'
  })
  t.strictSame([status, stdout, stderr], [0, '', ''])
  const rated = spawnSync('systemd-analyze', [
    'security',
    '--offline=true',
    '--threshold=19',
    '--no-pager',
    installed(t, 'shop@.service')
  ], { encoding: 'utf8' })
  t.equal(rated.status, 0, rated.stdout)
})

t.test('the unit names settings that exist, and has each secret that every server needs in a file', async (t) => {
  const secrets = valuesOf('LoadCredential').map((value) => value.split(':')[0]!)
  for (const [name, value] of Object.entries(variables)) {
    if (name === 'NODE_ENV') continue
    const secret = SECRET_SETTINGS.find((secret) => name === `${secret}_FILE`)
    if (secret === undefined) t.ok(name in settings && !(SECRET_SETTINGS as readonly string[]).includes(name), name)
    else t.equal(value, `%d/${secret}`)
  }
  t.strictSame(valuesOf('LoadCredential'), secrets.map((secret) => `${secret}:/etc/shop/secrets/${secret}`))
  t.strictSame(secrets, ['DATABASE_URL', 'API_KEY_PEPPERS', 'PAY_KEY_SECRETS'])
})

t.test('systemd waits longer for a stop than the server takes', async (t) => {
  t.ok(Number(valuesOf('TimeoutStopSec')[0]) * 1000 >= Number(settings['SHUTDOWN_DELAY']!.default) + STOPPING)
})

t.test('with the commands, variables and credentials of the unit, a replica migrates, serves and stops', {
  skip: TEST_DATABASE_URL === undefined && 'it is about PostgreSQL: set TEST_DATABASE_URL'
}, async (t) => {
  const secret = 'Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL'
  const credentials = t.testdir()
  const values: Record<string, string> = {
    DATABASE_URL: await createDatabase(t, TEST_DATABASE_URL!),
    API_KEY_PEPPERS: `2026:${secret}`,
    PAY_KEY_SECRETS: `2026:${secret}x`
  }
  for (const name of valuesOf('LoadCredential')) {
    writeFileSync(join(credentials, name.split(':')[0]!), `${values[name.split(':')[0]!]}\n`)
  }
  const port = await freePort()
  const env = {
    ...Object.fromEntries(
      Object.entries(variables).map((
        [name, value]
      ) => [name, value.replace('%i', `${port}`).replace('%d', credentials)])
    ),
    // What shop.env has, with an identity provider that is not there.
    PUBLIC_BASE_URL: 'https://shop.example',
    IDP_ISSUER: 'http://127.0.0.1:1/pool',
    IDP_M2M_CLIENT_IDS: 'none',
    ALLOW_INSECURE: 'http-issuer',
    SHUTDOWN_DELAY: '0'
  }
  const cwd = fileURLToPath(new URL('../../../', import.meta.url))
  const [migrate, serve] = [valuesOf('ExecStartPre')[0]!, valuesOf('ExecStart')[0]!].map((line) =>
    line.replace('/usr/bin/node ', '').split(' ')
  )
  const migrated = spawnSync(process.execPath, migrate!, { cwd, env, encoding: 'utf8' })
  t.match([migrated.status, migrated.stdout, migrated.stderr], [0, /^Done: 001-shops, /, /^Database: \S+ at /])

  const child = spawn(process.execPath, serve!, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  t.teardown(() => {
    child.kill('SIGKILL')
  })
  const readiness = async (): Promise<number | undefined> =>
    (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status
  while (child.exitCode === null && await readiness() !== 200) await sleep(100)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
})
