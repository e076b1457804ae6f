import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import type { JwtOptions } from '../src/index.ts'
import { examine } from '../src/doctor/index.ts'
import { hintFor } from '../src/doctor/hints.ts'
import { issuerSettings } from '../src/options.ts'
import { bearer, build } from './build.ts'
import { type Published, TOKENS } from './published-tokens.ts'

const KEYS = await Promise.all(
  (['RS256', 'ES256', 'ES384'] as const).map(async (alg) => ({ alg, ...await generateKeyPair(alg) }))
)
const server = createServer(async (_request, response) => {
  response.end(
    JSON.stringify({
      keys: await Promise.all(
        KEYS.map(async ({ alg, publicKey }) => ({ ...await exportJWK(publicKey), alg, kid: alg }))
      )
    })
  )
}).listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())

// Each token has an issuer of its own, with the options of its sample.
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const lines: string[] = []
const issuerOf = (i: number): string => `${base}/${TOKENS[i]!.title.startsWith('Cognito: the newer') ? 'POOL' : i}`
const optionsOf = ({ options }: Published, i: number): JwtOptions => ({
  ...JSON.parse(JSON.stringify(options).replaceAll('ISSUER', issuerOf(i))),
  issuer: issuerOf(i),
  jwksUri: base
})
const { app } = await build(t, {
  auth: { jwt: TOKENS.map(optionsOf) },
  server: {
    logger: {
      level: 'info',
      stream: {
        write: (line: string) => {
          lines.push(line)
        }
      }
    }
  }
})

for (const [i, sample] of TOKENS.entries()) {
  const { title, source, claims, typ = 'JWT', alg = 'RS256', header, becomes, hint } = sample
  t.test(`${title} (${source})`, async (t) => {
    const issuer = issuerOf(i)
    const key = KEYS.find((key) => key.alg === alg)?.privateKey ??
      Buffer.from('a secret that both sides know, long enough')
    const now = Math.floor(Date.now() / 1000)
    const token = await new SignJWT({
      iss: issuer,
      iat: now,
      exp: now + 3600,
      ...JSON.parse(JSON.stringify(claims).replaceAll('ISSUER', issuer))
    })
      .setProtectedHeader({ alg, kid: alg, ...typ !== null && { typ }, ...header }).sign(key)
    lines.length = 0
    const response = await app.inject({ url: '/orders', headers: bearer(token) })
    const findings = await examine(optionsOf(sample, i), token)
    const verdict = findings.find(({ what }) => what === 'token')?.found
    if (typeof becomes === 'string') {
      t.strictSame([
        response.statusCode,
        lines.map((line) => JSON.parse(line)).find(({ reason }) => reason !== undefined)?.reason,
        verdict
      ], [401, becomes, `rejected: ${becomes}`])
      const [advice] = findings.filter(({ level }) => level === 'hint')
      t.match(advice?.found, hint ?? /^[A-Z]/)
      t.notMatch(advice?.found, /…/, 'it is not cut')
    } else {
      t.strictSame(response.json(), { issuer, ...becomes })
      t.match(verdict, 'subject' in becomes ? /^accepted as a person: subject / : /^accepted as a machine: client /)
    }
  })
}

t.test('there are 56 shapes and more, and each reason that the plugin has comes with a hint', async (t) => {
  t.ok(TOKENS.length >= 56, String(TOKENS.length))
  const settings = issuerSettings(optionsOf(TOKENS[0]!, 0))
  const read = (file: string): string => readFileSync(new URL(`../src/${file}.ts`, import.meta.url), 'utf8')
  const thrown = ['tokens/jwt', 'tokens/jwks', 'tokens/identity', 'introspection/introspector'].flatMap((
    file
  ) => [...read(file).matchAll(/invalidCredential\((.*)/g)]).flatMap((
    [, rest = '']
  ) => [...rest.matchAll(/['`]([^'`]+ [^'`]+)['`]/g)])
  const flaws = [
    ...read('tokens/providers').matchAll(/[?:] '([\w ]+ is (?:not|missing|present)[^']*)'/g),
    ...read('credentials').matchAll(/'((?:Authorization|the token|two) [^']+)'/g)
  ]
  const reasons = [...thrown, ...flaws].map(([, reason]) => reason!)
  t.ok(reasons.length >= 40, String(reasons.length))
  for (const reason of reasons) {
    t.ok(hintFor(reason, { header: {}, payload: {}, settings: settings[0]!, issuers: settings }), reason)
  }
})
