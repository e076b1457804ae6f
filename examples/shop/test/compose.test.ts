import { readFileSync } from 'node:fs'
import pg from 'pg'
import t from 'tap'
import { configFromEnvironment } from '../src/config.ts'
import { risksIn } from '../src/risks.ts'

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

/** What compose makes of the settings of the servers: `${NAME:-default}` and `${NAME:?what it is}` become values. */
function settingsOfCompose (given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, block = ''] = /environment: &settings\n((?: {4}.*\n)+)/.exec(read('compose.yaml')) ?? []
  return Object.fromEntries([...block.matchAll(/^ {4}([A-Z_]+): (.*)$/gm)].map(([, name, text]) => [
    name!, text!.replace(/^"(.*)"$/, '$1').replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, variable, kind, rest) => {
      if (given[variable] === undefined && kind === '?') throw new RangeError(`compose.yaml wants ${variable}`)
      return given[variable] ?? rest
    })
  ]))
}

t.test('the servers of compose.yaml start with their settings, whatever the password of the database is', async (t) => {
  const password = 'p/w+d=@:?#%&x'
  const settings = settingsOfCompose({
    POSTGRES_PASSWORD: password,
    IDP_ISSUER: 'https://idp.example.com/pool',
    API_KEY_PEPPERS: '2026:Zk3v9QeX1pR7uT5wY2aB4cD6fG8hJ0kL',
    PAY_KEY_SECRETS: '2026:aQ8sW2dE4fR6gT0hY1jU3kI5lO7pZ9xC'
  })
  const { DATABASE_URL: url } = configFromEnvironment(settings, {}, risksIn)
  process.env['PGPASSWORD'] = settings['PGPASSWORD']
  t.teardown(() => { delete process.env['PGPASSWORD'] })
  t.match(new pg.Client({ connectionString: url }), { host: 'postgres', port: 5432, user: 'shop', database: 'shop', password })
})

t.test('nginx keeps asking where the replicas are', async (t) => {
  const nginx = read('nginx.conf')
  t.match(nginx, /^resolver 127\.0\.0\.11 valid=\d+s;$/m)
  t.match(nginx, /^upstream shop \{\n(?: .*\n)* {2}zone shop 64k;\n(?: .*\n)* {2}server shop:8080 resolve /m)
})
