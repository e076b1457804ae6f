import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { memoryBrokerStore } from '../../src/broker/index.ts'
import { digest } from '../../src/broker/digest.ts'
import { serve, userPool } from '../build.ts'
import {
  allow,
  authorizeUrl,
  brokerWorld,
  browser,
  fakeIdp,
  grantOf,
  pkce,
  register,
  sealedIn,
  signedIn,
  token,
  type World,
  type WorldOptions
} from './world.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly [member: string]: unknown
}

/** A world that logs, and what it has said since this was asked last, without Fastify's own lines. */
async function logging (t: Test, options: WorldOptions = {}): Promise<World & { said(): readonly Line[] }> {
  const lines: Line[] = []
  const logger = {
    stream: {
      write: (text: string) => {
        lines.push(JSON.parse(text))
      }
    }
  }
  const world = await brokerWorld(t, { ...options, server: { logger } })
  return {
    ...world,
    said: () => lines.splice(0).filter(({ msg }) => !/^(?:incoming request|request completed)$/.test(msg))
  }
}

const [INFO, WARN, ERROR] = [30, 40, 50]

t.test('a server with more than one replica is told that it needs a store', async (t) => {
  t.match((await logging(t)).said(), [{
    level: WARN,
    msg: 'oauth-discovery-shim: store is not set, so this process alone knows which codes and refresh ' +
      'tokens were used. With more than one replica, set it'
  }])
  t.strictSame((await logging(t, { broker: { store: memoryBrokerStore() } })).said(), [])
})

t.test('requests are logged without what their query holds', async (t) => {
  const lines: Array<{ req?: object, msg: string }> = []
  const { app } = await brokerWorld(t, {
    server: {
      logger: {
        stream: {
          write: (text: string) => {
            lines.push(JSON.parse(text))
          }
        }
      }
    }
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const [method, path] of [['GET', '/oauth/callback'], ['POST', '/oauth/token']] as const) {
    lines.length = 0
    await fetch(`${origin}${path}?code=secret`, { method })
    t.match(lines.find(({ req }) => req !== undefined)?.req, {
      method,
      url: path,
      host: origin.slice('http://'.length),
      remoteAddress: '127.0.0.1',
      remotePort: Number
    }, path)
    t.notMatch(JSON.stringify(lines), 'secret')
  }
})

t.test('what is refused is logged with its reason', async (t) => {
  const { app, idp, said } = await logging(t)
  const world = { app, idp }
  const clientId = await register(app)
  said()
  await token(world, { grant_type: 'password' })
  const grant = { level: INFO, msg: 'grant_type must be authorization_code or refresh_token' }
  t.match(said(), [{ ...grant, err: { code: 'OAUTH_DISCOVERY_SHIM_OAUTH', message: grant.msg } }])
  await app.inject(authorizeUrl(clientId, pkce().challenge, { redirect_uri: 'https://other.example.com/' }))
  t.match(said(), [{
    level: INFO,
    err: { code: 'OAUTH_DISCOVERY_SHIM_OAUTH' },
    msg: /^The callback https:\/\/other\.example\.com\/ of An agent is not one that it registered/
  }])

  const person = browser(app)
  const page = await person.get(authorizeUrl(clientId, pkce().challenge))
  await person.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'deny' })
  t.match(said(), [{ level: INFO, client: digest(clientId), msg: 'a person did not let a client sign in' }])

  for (const [error, logged] of [['access_denied', 'access_denied'], ['x'.repeat(101), 'x'.repeat(100)]] as const) {
    const callback = idp.signIn(await allow(person, authorizeUrl(clientId, pkce().challenge)), { error })
    await person.get(callback.href)
    t.match(said(), [{ level: INFO, error: logged, msg: 'the identity provider did not sign a person in' }])
  }
  const document = `https://10.0.0.1/${'x'.repeat(300)}`
  await app.inject(authorizeUrl(document, pkce().challenge))
  t.match(said()[0], {
    level: INFO,
    client: document.slice(0, 200),
    reason: 'its address leads into a private network',
    msg: "a client's metadata document was refused"
  })
  await app.inject(authorizeUrl('https://localhost.:9/client.json', pkce().challenge))
  t.match(said()[0], { client: 'https://localhost.:9/client.json', reason: 'its address leads into a private network' })
  const here = await logging(t, { broker: { documents: { privateHosts: ['localhost'] } } })
  here.said()
  await here.app.inject(authorizeUrl('https://localhost:9/client.json', pkce().challenge))
  t.match(
    here.said()[0],
    { reason: 'its server cannot be reached over https', err: { code: 'ECONNREFUSED' } },
    'the cause, which the page does not tell'
  )
})

t.test('what the identity provider answers is logged, as loud as it is unexpected', async (t) => {
  const { app, idp, said } = await logging(t)
  const world = { app, idp }
  const { clientId, refreshToken } = await signedIn(world)
  const url = `${new URL(idp.issuer).origin}/token`
  const refresh =
    async () => (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }))
  said()
  for (
    const [status, body, level, answer] of [
      [
        400,
        { error: 'invalid_request', error_description: 'AADSTS90009: Application is requesting a token for itself.' },
        INFO,
        502
      ],
      [429, { error: 'slow_down' }, INFO, 503],
      [500, { error: 'x'.repeat(101) }, ERROR, 503],
      [200, { error: 'no token' }, ERROR, 502],
      [200, { access_token: 1 }, ERROR, 502],
      [400, [], INFO, 502],
      [400, null, INFO, 502],
      [400, { error: { toString: 1 } }, INFO, 502]
    ] as const
  ) {
    idp.answer = () => ({ status, body })
    const { statusCode, error } = (await refresh()).json()
    t.strictSame([statusCode, error], [answer, answer === 503 ? 'temporarily_unavailable' : 'server_error'])
    t.match(said()[0], {
      level,
      status,
      description: body !== null && 'error_description' in body ? body.error_description : undefined,
      error: body !== null && 'error' in body && typeof body.error === 'string' ? body.error.slice(0, 100) : 'none',
      url,
      msg: 'the identity provider refused a request for tokens'
    })
  }
  for (const error of ['invalid_client', 'unauthorized_client']) {
    idp.answer = () => ({ status: 401, body: { error } })
    t.match((await refresh()).json(), { statusCode: 502, error: 'server_error' })
    t.match(
      said().find(({ msg }) =>
        /rejected this server, so nobody can sign in: check clientId, and clientSecret/.test(String(msg))
      ),
      { level: ERROR, status: 401, error, url }
    )
  }
  for (
    const [passed, description] of ['invalid_grant', 'invalid_scope', 'invalid_target', 'access_denied'].map((error) =>
      [error, `The identity provider rejected the request: ${error}`] as const
    )
  ) {
    idp.answer = () => ({ status: 400, body: { error: passed } })
    t.match(
      (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json(),
      { statusCode: 400, error: passed, error_description: description }
    )
  }
  const largest = { access_token: 'x', padding: '' }
  for (const [more, answer] of [[1, 503], [0, 200]] as const) {
    said()
    idp.answer = () => ({
      status: 200,
      body: { ...largest, padding: 'x'.repeat(256 * 1024 - JSON.stringify(largest).length + more) }
    })
    t.equal((await refresh()).statusCode, answer, '256 KiB, and no more')
    if (more > 0) {
      t.match(said()[0], {
        level: ERROR,
        url,
        err: { message: 'its answer is larger than 262144 bytes' },
        msg: 'the identity provider did not answer a request for tokens'
      })
    }
  }
})

t.test('a sign-in that ends at the identity provider, or cannot end there, is logged', async (t) => {
  const { app, idp, said } = await logging(t, { broker: { refreshGrace: 0 } })
  const world = { app, idp }
  const revocation = `${new URL(idp.issuer).origin}/revoke`
  const { clientId, refreshToken } = await signedIn(world)
  const refresh = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }
  await token(world, refresh)
  said()
  idp.answer = ({ path }) => path === '/revoke' ? { status: 400, body: {} } : undefined
  await token(world, refresh)
  t.match(said().filter(({ level }) => level === WARN), [
    {
      client: digest(clientId),
      msg: 'a refresh token was used again: its sign-in was ended, because somebody may have copied it'
    },
    { status: 400, url: revocation, msg: 'the identity provider did not revoke a refresh token' }
  ])
  await token(world, refresh)
  t.strictSame(said().filter(({ level }) => level === WARN), [], 'it is ended once')

  const away = await logging(t, { idp: await fakeIdp(t, { revocation_endpoint: 'http://127.0.0.1:9/revoke' }) })
  const other = await signedIn(away)
  t.equal(
    (await token(away, { client_id: other.clientId, token: other.refreshToken }, '/oauth/revoke')).statusCode,
    200
  )
  t.match(away.said().filter(({ url }) => url !== undefined), [{
    level: WARN,
    url: 'http://127.0.0.1:9/revoke',
    err: { message: 'fetch failed' },
    msg: 'the identity provider did not revoke a refresh token'
  }])

  const closed: string[] = []
  const endless = await serve(t, (_, response) => {
    response.on('close', () => {
      closed.push('closed')
    }).writeHead(200).write('x')
  })
  const talking = await logging(t, { idp: await fakeIdp(t, { revocation_endpoint: `${endless}/revoke` }) })
  const talked = await signedIn(talking)
  talking.said()
  await token(talking, { client_id: talked.clientId, token: talked.refreshToken }, '/oauth/revoke')
  while (closed.length === 0) await sleep(20)
  t.strictSame([closed, talking.said()], [['closed'], []], 'the body is not read')

  const without = await logging(t, { idp: await fakeIdp(t, { revocation_endpoint: undefined }) })
  const third = await signedIn(without)
  t.equal(
    (await token(without, { client_id: third.clientId, token: third.refreshToken }, '/oauth/revoke')).statusCode,
    200
  )
  t.strictSame(without.said().filter(({ url }) => url !== undefined), [], 'a provider that revokes nothing')
})

t.test('a provider that redirects a request for tokens, or is late, has not answered', async (t) => {
  for (
    const [what, answer, message] of [
      ['a redirect', { status: 307, location: '/elsewhere' }, 'fetch failed'],
      ['no answer', undefined, 'The operation was aborted due to timeout']
    ] as const
  ) {
    const asked: Array<string | undefined> = []
    const issuer = await serve(t, (request, response) => {
      if (request.method === 'GET') {
        return response.end(
          JSON.stringify({
            ...userPool(issuer),
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`
          })
        )
      }
      asked.push(request.url)
      if (answer) response.writeHead(answer.status, { location: answer.location }).end()
    })
    const world = await logging(t, { issuer, timeout: 500 })
    const grant = await grantOf(world)
    world.said()
    t.equal((await token(world, { ...grant })).statusCode, 503, what)
    t.match(world.said()[0], {
      level: ERROR,
      url: `${issuer}/token`,
      err: { message },
      msg: 'the identity provider did not answer a request for tokens'
    }, what)
    t.strictSame(asked, ['/token'], what)
  }
})
