import Fastify from 'fastify'
import { createHash } from 'node:crypto'
import t from 'tap'
import oauthBroker, { memoryBrokerStore } from '../../src/broker/index.ts'
import {
  allow,
  authorizeUrl,
  base,
  brokerWorld,
  browser,
  clock,
  fakeIdp,
  grantOf,
  loopback,
  pkce,
  register,
  sealedIn,
  signedIn,
  signIn,
  token
} from './world.ts'
import { joined } from '../../../../test/joined.ts'

const RFC = 'RFC 9700'

t.test(`${RFC} §4.1: a callback that is not the client's gets nothing, not even an error`, async (t) => {
  const { app } = await brokerWorld(t, {
    broker: { clients: [{ id: 'desk', name: 'Desk', redirectUris: ['https://desk.example.com/cb?a=1'] }] }
  })
  const registered = await register(app, ['https://agent.example.com/callback', loopback, 'http://localhost:1/'])
  for (
    const [clientId, uris] of [
      [registered, [
        'https://evil.example.com/callback',
        'https://agent.example.com/callback/',
        'https://agent.example.com/callback?x=1',
        'https://agent.example.com/callback#x',
        'https://agent.example.com/Callback',
        'https://agent.example.com:8443/callback',
        'https://agent.example.com:443/callback',
        'https://AGENT.example.com/callback',
        'https://agent.example.com/callback/../callback',
        'https://agent.example.com/%63allback',
        'https://agent.example.com@evil.example.com/callback',
        'https://agent.example.com.evil.example.com/callback',
        'https://agent.example.com\\@evil.example.com/callback',
        'https:agent.example.com/callback',
        '//agent.example.com/callback',
        'http://agent.example.com/callback',
        'https://evil.example.com/https://agent.example.com/callback',
        'https://agent.example.com/callback\u0000',
        'https://agent.example.com/callback ',
        ' https://agent.example.com/callback',
        '\thttps://agent.example.com/callback',
        'http://127.0.0.1:33418/other',
        'http://127.0.0.1:33418/callback/',
        'http://localhost:33418/callback',
        'http://[::1]:33418/callback',
        'https://127.0.0.1:33418/callback',
        'http://127.0.0.1:33418@evil.example.com/callback',
        'http://127.0.0.1:99999/callback',
        'http://127.0.0.1:+1/callback',
        'http://127.0.0.1.evil.example.com/callback',
        'http://127.1/callback',
        'http://0x7f.0.0.1/callback',
        'http://2130706433/callback',
        'http://127.0.0.2/callback',
        'http://0.0.0.0/callback',
        'http://localhost.evil.example.com:1/',
        'http://localhost:1',
        'http://LOCALHOST:1/',
        'javascript:alert(1)',
        'data:text/html,x',
        'vscode:x',
        ''
      ]],
      ['desk', [
        'https://desk.example.com/cb',
        'https://desk.example.com/cb?a=2',
        'https://desk.example.com/cb?a=1&b=2'
      ]]
    ] as const
  ) {
    for (const redirectUri of uris) {
      const { statusCode, headers, body } = await app.inject(
        authorizeUrl(clientId, pkce().challenge, { redirect_uri: redirectUri })
      )
      t.equal(statusCode, 400, redirectUri)
      t.notOk('location' in headers, redirectUri)
      t.notMatch(body, /href=/, 'no link either')
    }
  }
})

t.test(`${RFC} §4.1.3, RFC 8252 §7.3: on loopback the port is free, and nothing else`, async (t) => {
  const world = await brokerWorld(t)
  const clientId = await register(world.app, ['http://127.0.0.1/callback', 'http://[::1]:9/x?y=1'])
  for (
    const uri of [
      'http://127.0.0.1/callback',
      'http://127.0.0.1:1/callback',
      'http://127.0.0.1:65535/callback',
      'http://[::1]:12345/x?y=1'
    ]
  ) {
    const landed = await signIn(world, authorizeUrl(clientId, pkce().challenge, { redirect_uri: uri }))
    t.ok(landed.href.startsWith(`${uri}${uri.includes('?') ? '&' : '?'}code=`), uri)
  }
})

t.test('RFC 7591 §5: callbacks that no client may have cannot be registered', async (t) => {
  const { app } = await brokerWorld(t)
  for (
    const uri of [
      'http://agent.example.com/callback',
      'javascript:alert(1)//https://x',
      'JavaScript:alert(1)',
      'data:text/html,<script>',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://x/y',
      'about:blank',
      'ms-msdt:x',
      'search-ms:x',
      'evil://x',
      'https://agent.example.com/#fragment',
      'https://user:pass@agent.example.com/',
      'https://exa mple.com/',
      'https://\u0430gent.example.com/',
      'https://agent.example.com/\r\nset-cookie:x=1',
      'https://agent.example.com/<script>',
      'https://agent.example.com/"onload="x',
      'ftp://agent.example.com/',
      'ws://127.0.0.1/',
      `https://agent.example.com/${'x'.repeat(500)}`,
      '',
      ' ',
      1,
      null,
      {},
      ['https://agent.example.com/']
    ]
  ) {
    const registered = async (uris: readonly unknown[]) =>
      await app.inject({ method: 'POST', url: '/oauth/clients', payload: { redirect_uris: uris } })
    const { statusCode, json } = await registered([uri])
    t.strictSame([statusCode, json().error], [400, 'invalid_redirect_uri'], JSON.stringify(uri))
    t.strictSame((await registered([loopback, uri])).json().redirect_uris, [loopback], JSON.stringify(uri))
  }
  for (
    const body of [
      '',
      '{',
      '[]',
      'null',
      '"x"',
      '{}',
      '{"redirect_uris":[]}',
      '{"redirect_uris":"https://x.example.com/"}',
      `{"redirect_uris":${JSON.stringify(Array.from({ length: 21 }, (_, i) => `https://x.example.com/${i}`))}}`,
      '{"__proto__":{"redirect_uris":["https://x.example.com/"]}}'
    ]
  ) {
    const { statusCode, json } = await app.inject({
      method: 'POST',
      url: '/oauth/clients',
      headers: { 'content-type': 'application/json' },
      payload: body
    })
    t.equal(statusCode, 400, body)
    t.match(json(), {
      code: 'OAUTH_DISCOVERY_SHIM_OAUTH',
      error: /^invalid_(redirect_uri|client_metadata)$/,
      error_description: json().message
    })
  }
  for (
    const uri of [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'vscode://vscode.github-authentication/did-authenticate',
      'com.example.app:/callback',
      'com.example.app://x/y',
      'https://xn--80ak6aa92e.example.com/cb'
    ]
  ) {
    t.equal(
      (await app.inject({ method: 'POST', url: '/oauth/clients', payload: { redirect_uris: [uri] } })).statusCode,
      201,
      uri
    )
  }
})

t.test('RFC 7591: twenty callbacks can be registered, in an id of at most 4000 characters', async (t) => {
  const { app } = await brokerWorld(t)
  const registered = async (uris: readonly string[]) =>
    await app.inject({ method: 'POST', url: '/oauth/clients', payload: { client_name: 'x', redirect_uris: uris } })
  const uris = (count: number, length: number) =>
    Array.from(
      { length: count },
      (_, i) => `https://x.example.com/${i % 10}${'x'.repeat(length - 23)}${i > 9 ? 'y' : 'z'}`
    )
  t.equal((await registered(uris(20, 100))).statusCode, 201)
  t.match((await registered(uris(21, 100))).json(), {
    error: 'invalid_redirect_uri',
    error_description: 'redirect_uris must be a list of 1 to 20 URLs'
  })
  t.strictSame((await registered([loopback, loopback])).json().redirect_uris, [loopback], 'each once')
  // The id is base64url: a byte more makes it one or two characters longer.
  const last = (length: number) => [...uris(6, 450), `https://y.example.com/${'x'.repeat(length)}`]
  const lengths = []
  for (let length = 130; length < 260; length++) {
    const response = await registered(last(length))
    if (response.statusCode === 201) lengths.push(response.json().client_id.length)
    else {
      t.match(response.json(), {
        error: 'invalid_client_metadata',
        error_description: 'redirect_uris are too long in total'
      })
      break
    }
  }
  t.equal(lengths.at(-1), 4000)
})

t.test('MCP, confused deputy: a person signed in at the provider is still asked, for every client', async (t) => {
  const world = await brokerWorld(t)
  const person = browser(world.app)
  await signIn(world, authorizeUrl(await register(world.app), pkce().challenge), person)
  const evil = await register(world.app, ['https://evil.example.com/callback'], 'An agent')
  const page = await person.get(
    authorizeUrl(evil, pkce().challenge, { redirect_uri: 'https://evil.example.com/callback' })
  )
  t.equal(page.statusCode, 200)
  t.notOk('location' in page.headers)
  t.match(page.body, /This server does not know evil\.example\.com/)
})

t.test('MCP, consent bypass: no form that the person did not see is accepted', async (t) => {
  const { app } = await brokerWorld(t)
  const clientId = await register(app)
  const attacker = browser(app)
  const victim = browser(app)
  const sealed = sealedIn((await attacker.get(authorizeUrl(clientId, pkce().challenge))).body)
  const own = sealedIn((await victim.get(authorizeUrl(clientId, pkce().challenge))).body)
  const refused = async (who: string, response: ReturnType<typeof victim.post>) => {
    const { statusCode, headers, body } = await response
    t.equal(statusCode, 400, who)
    t.notOk('location' in headers, who)
    t.match(body, /This sign-in was started in another browser/, who)
  }
  await refused(
    'a request that another browser was asked for',
    victim.post('/oauth/authorize', { request: sealed, decision: 'allow' })
  )
  await refused(
    'a browser without its cookie',
    browser(app).post('/oauth/authorize', { request: own, decision: 'allow' })
  )
  await refused(
    'a form of another site',
    victim.post('/oauth/authorize', { request: own, decision: 'allow' }, { 'sec-fetch-site': 'cross-site' })
  )
  await refused(
    'a form of a neighbouring subdomain',
    victim.post('/oauth/authorize', { request: own, decision: 'allow' }, { 'sec-fetch-site': 'same-site' })
  )
  await refused('no request', victim.post('/oauth/authorize', { decision: 'allow' }))
  await refused(
    'a changed request',
    victim.post('/oauth/authorize', {
      request: own.replace(/.$/, (last) => last === 'A' ? 'B' : 'A'),
      decision: 'allow'
    })
  )
  await refused(
    'a client id in place of the request',
    victim.post('/oauth/authorize', { request: clientId, decision: 'allow' })
  )
  t.equal(
    (await victim.get(`/oauth/authorize?${new URLSearchParams({ request: own, decision: 'allow' }).toString()}`))
      .statusCode,
    400,
    'not by GET'
  )
  t.equal(
    (await victim.post('/oauth/authorize', { request: own, decision: 'allow' }, { 'sec-fetch-site': 'same-origin' }))
      .statusCode,
    303,
    'the person herself'
  )
})

t.test(`${RFC} §4.7: a sign-in cannot be finished in another browser`, async (t) => {
  const { app, idp } = await brokerWorld(t)
  const clientId = await register(app)
  const [attacker, victim] = [browser(app), browser(app)]
  // who agreed in her own browser sends the victim to the provider, where the victim is signed in
  const url = await allow(attacker, authorizeUrl(clientId, pkce().challenge))
  const victims = idp.signIn(url)
  for (const begun of [false, true]) {
    if (begun) await allow(victim, authorizeUrl(clientId, pkce().challenge))
    const { statusCode, headers, body } = await victim.get(victims.href)
    t.equal(statusCode, 400)
    t.notOk('location' in headers)
    t.match(body, /started in another browser/)
  }
  // states are swapped between two sign-ins of two browsers
  const own = new URL(idp.signIn(await allow(victim, authorizeUrl(clientId, pkce().challenge))))
  own.searchParams.set('state', victims.searchParams.get('state')!)
  t.equal((await victim.get(own.href)).statusCode, 400)
  for (const state of ['', 'x', '../x', '__proto__', 'a'.repeat(43)]) {
    t.equal((await victim.get(`/oauth/callback?code=x&state=${encodeURIComponent(state)}`)).statusCode, 400, state)
  }
  t.equal((await victim.get('/oauth/callback')).statusCode, 400)
})

t.test(`${RFC} §4.7: a sealed value counts where, for what and for the time that it was made`, async (t) => {
  const at = clock(t)
  const world = await brokerWorld(t)
  const { app, idp } = world
  const clientId = await register(app)
  const person = browser(app)
  const page = sealedIn((await person.get(authorizeUrl(clientId, pkce().challenge))).body)
  const url = idp.signIn(await allow(person, authorizeUrl(clientId, pkce().challenge)))
  const state = url.searchParams.get('state')!
  const { code } = await grantOf(world)
  const { refreshToken } = await signedIn(world)
  // With the same secrets and the same cookies, but for another address.
  const elsewhere = await brokerWorld(t, { publicBaseUrl: 'https://staging.example.com' })
  const [secret, sealed] = state.split('.') as [string, string]
  for (
    const [what, other] of [
      ['cut at the end', state.slice(0, -1)],
      ['cut at its end and filled up', `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`],
      ['cut at the start', state.slice(1)],
      ['longer', `${state}A`],
      ['padded', `${state}==`],
      ['twice', `${state}.${sealed}`],
      ['of a secret that there is not', `2025-12.${sealed}`],
      ['of no secret', sealed],
      ['a secret alone', `${secret}.`],
      ['a bit turned', `${secret}.${sealed.slice(0, 40)}${sealed[40] === 'A' ? 'B' : 'A'}${sealed.slice(41)}`],
      ['in another case', `${secret}.${sealed.toLowerCase()}`],
      ['a client', clientId],
      ['a question', page],
      ['a code', code],
      ['a refresh token', refreshToken]
    ] as const
  ) {
    const { statusCode, headers } = await person.get(`/oauth/callback?code=x&state=${encodeURIComponent(other)}`)
    t.strictSame([statusCode, headers.location], [400, undefined], what)
  }
  for (const grant of [state, page, clientId, refreshToken]) {
    t.match((await token(world, { ...await grantOf(world), code: grant })).json(), { error: 'invalid_grant' })
  }
  for (const grant of [state, page, clientId, code]) {
    t.match(
      (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: grant })).json(),
      { error: 'invalid_grant' }
    )
  }
  const stranger = browser(elsewhere.app)
  for (const [name, value] of person.cookies) stranger.cookies.set(name, value)
  t.equal((await stranger.get(url.href)).statusCode, 400, 'of a server with another address')
  at(900_000)
  t.equal((await person.get(url.href)).statusCode, 400, 'after its time')
  at(899_000)
  t.equal((await person.get(url.href)).statusCode, 303, 'before')
})

t.test(`${RFC} §4.7: cookies cannot be planted by a neighbour, nor used for another purpose`, async (t) => {
  const { app, idp } = await brokerWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  const url = new URL(await allow(person, authorizeUrl(clientId, pkce().challenge)))
  const state = url.searchParams.get('state')!
  const [name, value] = [...person.cookies].find(([cookie]) => cookie.includes('sign-in'))!
  t.match(name, /^__Host-/)
  const planted = browser(app)
  planted.cookies.set(name.replace('__Host-', ''), value)
  t.equal(
    (await planted.get(idp.signIn(url.href).href)).statusCode,
    400,
    'without the prefix that only this origin can set'
  )
  planted.cookies.set('__Host-oauth-sign-in-other', value)
  t.equal((await planted.get(idp.signIn(url.href).href)).statusCode, 400, 'under another state')
  planted.cookies.set('__Host-oauth-sign-in-x', value)
  t.equal(
    (await planted.get('/oauth/callback?code=x&state=x')).statusCode,
    400,
    'under a state that this server does not make'
  )
  planted.cookies.set(name, sealedIn((await person.get(authorizeUrl(clientId, pkce().challenge))).body))
  t.equal((await planted.get(`/oauth/callback?code=x&state=${state}`)).statusCode, 400, 'sealed for another purpose')
})

t.test(`${RFC} §4.4, RFC 9207: an answer of another authorization server is no answer`, async (t) => {
  for (const announces of [false, true]) {
    const idp = await fakeIdp(t, announces ? { authorization_response_iss_parameter_supported: true } : {})
    const { app } = await brokerWorld(t, { idp })
    const clientId = await register(app)
    for (
      const [iss, status] of [
        ['https://evil.example.com', 400],
        [`${idp.issuer}/`, 400],
        [idp.issuer, 303],
        [undefined, announces ? 400 : 303]
      ] as const
    ) {
      const person = browser(app)
      const callback = idp.signIn(
        await allow(person, authorizeUrl(clientId, pkce().challenge)),
        iss === undefined ? {} : { iss }
      )
      t.equal((await person.get(callback.href)).statusCode, status, `${announces}: ${iss ?? 'no iss'}`)
    }
  }
})

t.test(`${RFC} §4.5: a stolen code is worth nothing without the verifier, and is not used up by trying`, async (t) => {
  const world = await brokerWorld(t)
  const grant = await grantOf(world)
  const other = await register(world.app, [loopback], 'Another')
  for (
    const [what, change, error] of [
      ['no verifier', { code_verifier: undefined }, 'invalid_request'],
      ['another verifier', { code_verifier: pkce().verifier }, 'invalid_grant'],
      ['the challenge as verifier', { code_verifier: pkce().challenge }, 'invalid_grant'],
      ['a short verifier', { code_verifier: 'x' }, 'invalid_grant'],
      ['a verifier of rubbish', { code_verifier: `${'x'.repeat(42)}é` }, 'invalid_grant'],
      ['another client', { client_id: other }, 'invalid_grant'],
      ['no client', { client_id: undefined }, 'invalid_request'],
      ['another callback', { redirect_uri: 'http://127.0.0.1:33419/callback' }, 'invalid_grant'],
      ['another resource', { resource: 'https://other.example.com/mcp' }, 'invalid_target'],
      ['a changed code', { code: grant.code.replace(/.$/, (last) => last === 'A' ? 'B' : 'A') }, 'invalid_grant'],
      ['a code with something behind it', { code: `${grant.code}.x` }, 'invalid_grant'],
      ["the provider's code", { code: 'idp-code-1' }, 'invalid_grant'],
      ['a client id as code', { code: grant.client_id }, 'invalid_grant'],
      ['another grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
      ['the password grant', { grant_type: 'password', username: 'x', password: 'x' }, 'unsupported_grant_type']
    ] as const
  ) {
    const response = await token(world, { ...grant, ...change })
    t.strictSame([response.statusCode, response.json().error], [400, error], what)
    t.equal(response.headers['cache-control'], 'no-store')
  }
  t.strictSame(world.idp.calls, [], 'the identity provider heard of none')
  t.equal((await token(world, { ...grant })).statusCode, 200, 'the client itself')

  for (const [length, status] of [[42, 400], [43, 200], [128, 200], [129, 400]] as const) {
    const verifier = 'x'.repeat(length)
    const landed = await signIn(world, authorizeUrl(other, createHash('sha256').update(verifier).digest('base64url')))
    t.equal(
      (await token(world, {
        ...grant,
        client_id: other,
        code: landed.searchParams.get('code')!,
        code_verifier: verifier
      })).statusCode,
      status,
      `a verifier of ${length} characters (RFC 7636 §4.1)`
    )
  }
})

t.test(`${RFC} §4.5, RFC 6749 §4.1.2: a code that is used twice ends the sign-in`, async (t) => {
  const idp = await fakeIdp(t)
  const world = await brokerWorld(t, { idp })
  const grant = await grantOf(world)
  const tokens = (await token(world, { ...grant })).json()
  t.match((await token(world, { ...grant })).json(), {
    error: 'invalid_grant',
    error_description: 'The code was used before'
  })
  t.match(
    (await token(world, {
      grant_type: 'refresh_token',
      client_id: grant.client_id,
      refresh_token: tokens.refresh_token
    })).json(),
    { error: 'invalid_grant' }
  )

  const twice = await grantOf(world)
  const answers = await Promise.all([1, 2, 3, 4].map(async () => (await token(world, { ...twice })).statusCode))
  t.strictSame(answers.sort(), [200, 400, 400, 400], 'at the same time as well')

  // a replica that shares no store: the identity provider takes its code once
  const third = await grantOf(world)
  t.equal((await token(world, { ...third })).statusCode, 200)
  t.match((await token(await brokerWorld(t, { idp }), { ...third })).json(), { error: 'invalid_grant' })
})

t.test(`${RFC} §4.5: a browser that comes back twice gets two codes, of which one works`, async (t) => {
  const world = await brokerWorld(t)
  const clientId = await register(world.app)
  const { verifier, challenge } = pkce()
  const person = browser(world.app)
  const callback = world.idp.signIn(await allow(person, authorizeUrl(clientId, challenge)))
  const cookies = [...person.cookies]
  const grants = []
  for (let i = 0; i < 2; i++) {
    for (const [name, value] of cookies) person.cookies.set(name, value)
    const landed = new URL(String((await person.get(callback.href)).headers.location))
    grants.push({
      grant_type: 'authorization_code',
      client_id: clientId,
      code: landed.searchParams.get('code')!,
      code_verifier: verifier
    })
  }
  t.not(grants[0]!.code, grants[1]!.code)
  const { refresh_token: refreshToken } = (await token(world, grants[0]!)).json()
  t.match((await token(world, grants[1]!)).json(), {
    error: 'invalid_grant',
    error_description: 'The code was used before'
  })
  t.equal(world.idp.calls.length, 1, 'whether or not the provider would take its code again')
  t.match(
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json(),
    { error: 'invalid_grant' },
    'and the sign-in is over'
  )
})

t.test(`${RFC} §4.8: PKCE cannot be left out or weakened`, async (t) => {
  const world = await brokerWorld(t)
  const clientId = await register(world.app)
  for (
    const [what, change] of [
      ['no challenge', { code_challenge: undefined }],
      ['plain', { code_challenge_method: 'plain' }],
      ['no method, which is plain', { code_challenge_method: undefined }],
      ['lower case', { code_challenge_method: 's256' }],
      ['an empty challenge', { code_challenge: '' }],
      ['a short challenge', { code_challenge: 'x'.repeat(42) }],
      ['a challenge of other characters', { code_challenge: `${'x'.repeat(42)}+` }]
    ] as const
  ) {
    const { statusCode, headers } = await world.app.inject(authorizeUrl(clientId, pkce().challenge, change))
    t.equal(statusCode, 303, what)
    t.equal(new URL(String(headers.location)).searchParams.get('error'), 'invalid_request', what)
  }
})

t.test(`${RFC} §4.11: a faulty request is no open redirect`, async (t) => {
  const { app } = await brokerWorld(t, {
    broker: { clients: [{ id: 'desk', name: 'Desk', redirectUris: ['https://desk.example.com/cb'] }] }
  })
  const phishing = await register(app, ['https://evil.example.com/?a=1'])
  const { statusCode, headers, body } = await app.inject(
    authorizeUrl(phishing, pkce().challenge, { redirect_uri: 'https://evil.example.com/?a=1', response_type: 'token' })
  )
  t.equal(statusCode, 400)
  t.notOk('location' in headers)
  t.match(
    body,
    joined(
      /<a href="https:\/\/evil\.example\.com\/\?a=1&amp;error=unsupported_response_type&amp;/,
      /[^"]*iss=[^"]*" rel="noreferrer">/,
      /Go back to evil\.example\.com<\/a>\. Only do so if you came from there\./
    )
  )
  const listed = await app.inject(
    authorizeUrl('desk', pkce().challenge, { redirect_uri: 'https://desk.example.com/cb', response_type: 'token' })
  )
  t.equal(listed.statusCode, 303, 'a client of the list is told')
})

t.test(`${RFC} §4.11: a site that somebody refuses does not get them all the same`, async (t) => {
  const { app } = await brokerWorld(t, {
    broker: { clients: [{ id: 'desk', name: 'Desk', redirectUris: ['https://desk.example.com/cb'] }] }
  })
  for (
    const [clientId, redirectUri, place] of [
      [await register(app, ['https://evil.example.com/?a=1']), 'https://evil.example.com/?a=1', 'evil\\.example\\.com'],
      [await register(app, ['vscode://any.extension/run?x=1']), 'vscode://any.extension/run?x=1', 'the app']
    ] as const
  ) {
    const person = browser(app)
    const page = await person.get(authorizeUrl(clientId, pkce().challenge, { redirect_uri: redirectUri }))
    const { statusCode, headers, body } = await person.post('/oauth/authorize', {
      request: sealedIn(page.body),
      decision: 'deny'
    })
    t.equal(statusCode, 200)
    t.notOk('location' in headers)
    t.match(body, /<h1>You did not allow it<\/h1>/)
    t.match(
      body,
      new RegExp(
        `&amp;error=access_denied&amp;[^"]*state=[^"]*" rel="noreferrer">Go back to ${place}</a>\\. Only do so ` +
          'if you came from there\\.'
      )
    )
  }
  const person = browser(app)
  const page = await person.get(authorizeUrl('desk', pkce().challenge, { redirect_uri: 'https://desk.example.com/cb' }))
  t.match(
    (await person.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'deny' })).headers.location,
    'https://desk.example.com/cb?error=access_denied',
    'a client of the list is told'
  )
})

t.test(`${RFC} §4.12: redirects turn a form into a GET`, async (t) => {
  const { app } = await brokerWorld(t)
  const person = browser(app)
  const page = await person.get(authorizeUrl(await register(app), pkce().challenge))
  for (const decision of ['deny', 'allow']) {
    t.equal((await person.post('/oauth/authorize', { request: sealedIn(page.body), decision })).statusCode, 303)
  }
})

t.test(`${RFC} §4.14: a refresh token that comes again ends the sign-in, here and at the provider`, async (t) => {
  const world = await brokerWorld(t, { broker: { refreshGrace: 0 } })
  const { clientId, refreshToken: first } = await signedIn(world)
  const refresh = async (refreshToken: string, more = {}) =>
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, ...more }))
      .json()
  const { refresh_token: second } = await refresh(first)
  const { refresh_token: third } = await refresh(second)
  t.match(await refresh(first), {
    error: 'invalid_grant',
    error_description: 'The refresh token was used before or revoked'
  })
  t.match(world.idp.calls.at(-1), {
    path: '/revoke',
    form: { token: /^idp-refresh-/, token_type_hint: 'refresh_token', client_id: 'broker-client' }
  })
  t.match(await refresh(third), { error: 'invalid_grant' }, 'nobody can tell the thief from the client')
  t.equal(world.idp.calls.filter(({ path }) => path === '/revoke').length, 1)
})

t.test(`${RFC} §4.14: for a moment a refresh token may come again, from clients that lost the answer`, async (t) => {
  const world = await brokerWorld(t)
  const { clientId, refreshToken: first } = await signedIn(world)
  const refresh = async (refreshToken: string) =>
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json()
  const answers = await Promise.all([refresh(first), refresh(first)])
  for (const { refresh_token: second } of answers) t.type(second, 'string')
  t.type((await refresh(first)).refresh_token, 'string')
  const { refresh_token: third } = await refresh(answers[0].refresh_token)
  t.type((await refresh(answers[1].refresh_token)).refresh_token, 'string', 'its twin')
  t.type(third, 'string')
  t.match(await refresh(first), { error: 'invalid_grant' }, 'but not once the next one was used')
  t.match(await refresh(third), { error: 'invalid_grant' })
})

t.test(`${RFC} §4.14: without the moment, a refresh token works once across replicas`, async (t) => {
  const [idp, store] = [await fakeIdp(t), memoryBrokerStore()]
  const replicas = [
    await brokerWorld(t, { idp, broker: { refreshGrace: 0, store } }),
    await brokerWorld(t, { idp, broker: { refreshGrace: 0, store } })
  ]
  const { clientId, refreshToken } = await signedIn(replicas[0]!)
  const used = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }
  const answers = await Promise.all([0, 1, 0, 1].map((i) => token(replicas[i]!, used)))
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [200, 400, 400, 400])
  t.ok(idp.calls.some(({ path }) => path === '/revoke'), 'and the sign-in is over')
  const winner = answers.find(({ statusCode }) => statusCode === 200)!.json()
  t.match((await token(replicas[0]!, { ...used, refresh_token: winner.refresh_token })).json(), {
    error: 'invalid_grant'
  })
})

t.test(`${RFC} §4.14: a replica whose clock is ahead lets no refresh token pass twice`, async (t) => {
  const store = memoryBrokerStore(() => Date.now() + 30_000)
  const world = await brokerWorld(t, { broker: { refreshGrace: 0, store } })
  const { clientId, refreshToken } = await signedIn(world)
  const used = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }
  t.equal((await token(world, used)).statusCode, 200)
  t.match((await token(world, used)).json(), { error: 'invalid_grant' })
})

t.test('RFC 7009 §2.1: a refresh that overlaps a revocation gives nothing, and revokes what it got', async (t) => {
  const world = await brokerWorld(t)
  world.idp.rotates = true
  const { clientId, refreshToken } = await signedIn(world)
  let revoked: ReturnType<typeof token> | undefined
  world.idp.calls.length = 0
  world.idp.answer = ({ form }) => {
    // The client revokes while the provider thinks about the refresh.
    if (form['grant_type'] === 'refresh_token') {
      revoked ??= token(world, { client_id: clientId, token: refreshToken }, '/oauth/revoke')
    }
    return form['grant_type'] === 'refresh_token'
      ? { status: 200, body: { access_token: 'late', refresh_token: 'the successor' } }
      : undefined
  }
  world.idp.wait = async ({ form }) => {
    if (form['grant_type'] === 'refresh_token') await revoked
  }
  t.match(
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json(),
    { error: 'invalid_grant' }
  )
  t.equal((await revoked)?.statusCode, 200)
  t.strictSame(
    world.idp.calls.filter(({ path }) => path === '/revoke').map(({ form }) => form['token']).at(-1),
    'the successor'
  )
})

t.test('RFC 6749 §6: who asks for less once may have all of it the next time, and never more', async (t) => {
  const world = await brokerWorld(t)
  const { clientId, refreshToken } = await signedIn(world)
  world.idp.answer = ({ form }) =>
    form['grant_type'] === 'refresh_token'
      ? { status: 200, body: { access_token: 'x', scope: form['scope'] ?? 'openid email profile' } }
      : undefined
  const refresh = async (refreshToken: string, scope?: string) =>
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, scope }))
      .json()
  const narrow = await refresh(refreshToken, 'openid')
  t.equal(narrow.scope, 'openid')
  t.match(await refresh(narrow.refresh_token, 'openid phone'), { error: 'invalid_scope' })
  t.equal((await refresh(narrow.refresh_token, 'openid email profile')).scope, 'openid email profile')
})

t.test('RFC 6749 §10.4: a refresh token belongs to one client', async (t) => {
  const world = await brokerWorld(t)
  const { refreshToken, clientId } = await signedIn(world)
  const other = await register(world.app, [loopback], 'Another')
  const calls = world.idp.calls.length
  for (const client of [other, 'x', `${clientId} `]) {
    t.match(
      (await token(world, { grant_type: 'refresh_token', client_id: client, refresh_token: refreshToken })).json(),
      { error: 'invalid_grant', error_description: 'The code or token was not issued to this client' }
    )
    t.match((await token(world, { client_id: client, token: refreshToken }, '/oauth/revoke')).json(), {
      error: 'invalid_grant'
    })
  }
  t.equal(world.idp.calls.length, calls, 'the identity provider heard of none')
  t.match(
    (await token(world, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
      scope: 'openid phone'
    })).json(),
    { error: 'invalid_scope' }
  )
  t.equal(
    (await token(world, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
      scope: 'openid'
    })).statusCode,
    200
  )
})

t.test('RFC 7009: a revoked sign-in is over, here and at the provider', async (t) => {
  const world = await brokerWorld(t)
  const { refreshToken, clientId, accessToken } = await signedIn(world)
  const revoke = (value: string) => token(world, { client_id: clientId, token: value }, '/oauth/revoke')
  t.equal((await revoke('rubbish')).statusCode, 200, 'what is not valid needs no revocation')
  t.match((await revoke('a.b.c')).json(), { error: 'unsupported_token_type' })
  t.equal((await revoke(accessToken)).statusCode, 200)
  t.equal(world.idp.calls.filter(({ path }) => path === '/revoke').length, 0)
  for (let i = 0; i < 2; i++) t.equal((await revoke(refreshToken)).statusCode, 200)
  t.match(world.idp.calls.filter(({ path }) => path === '/revoke'), [{ form: { token: /^idp-refresh-/ } }], 'once')
  t.match(
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json(),
    { error: 'invalid_grant' }
  )
})

t.test(`${RFC} §4.16: no page can be framed, runs a script or sends its URL on`, async (t) => {
  const { app } = await brokerWorld(t)
  const clientId = await register(app, [loopback], '<script>alert(1)</script>"\'&')
  for (
    const url of [
      authorizeUrl(clientId, pkce().challenge),
      authorizeUrl('unknown', 'x'),
      '/oauth/callback?state=x',
      '/oauth/authorize'
    ]
  ) {
    const { headers, body } = await app.inject(url)
    t.match(headers, {
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'unsafe-none',
      'content-security-policy': /^default-src 'none';style-src 'sha256-[^']+';base-uri 'none';frame-ancestors 'none'$/
    }, url)
    t.notOk('access-control-allow-origin' in headers, url)
    t.notMatch(body, /<script/i)
  }
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/oauth/authorize',
    headers: { origin: 'https://evil.example.com', 'access-control-request-method': 'POST' }
  })
  t.equal(preflight.statusCode, 404)
})

t.test('Unicode TR 36: names and hosts cannot pretend', async (t) => {
  const { app } = await brokerWorld(t)
  for (
    const [name, shown] of [
      ['\u3164', 'An app without a name'],
      ['\u115f\u1160\u2800', 'An app without a name'],
      ['A\u034f\u{e0041}B', 'A[U+034F U+E0041]B'],
      ['A\ud800B', 'A[U+D800]B'],
      [`x${'\u0334'.repeat(58)}`, `x${'\u0334'.repeat(3)}`],
      ['x'.repeat(60_000), `${'x'.repeat(59)}…`],
      ['Claude\u202eedoC', 'Claude[U+202E]edoC'],
      ['A\u0000\u0007\u200bB', 'A[U+0000 U+0007 U+200B]B'],
      ['می\u200cخواهم', 'می\u200cخواهم'],
      ['x'.repeat(60), 'x'.repeat(60)],
      ['two\nlines\u2028more', 'two lines more'],
      ['  ', 'An app without a name'],
      ['ﬁle', 'file'],
      ['x'.repeat(100), `${'x'.repeat(59)}…`],
      ['', 'An app without a name']
    ] as const
  ) {
    const { client_name: registered } = (await app.inject({
      method: 'POST',
      url: '/oauth/clients',
      payload: { client_name: name, redirect_uris: [loopback] }
    })).json()
    t.equal(registered, shown)
  }
  const rightToLeft = await register(app, [loopback], '\u05d0\u05d1 (')
  t.match(
    (await app.inject(authorizeUrl(rightToLeft, pkce().challenge))).body,
    /<h1>Let <bdi>\u05d0\u05d1 \(<\/bdi> use Shop in your name\?<\/h1>[^]*<dd><bdi>\u05d0\u05d1 \(<\/bdi>/,
    'letters from right to left move nothing else'
  )
  const clientId = await register(app, ['https://xn--80ak6aa92e.com/cb'])
  t.match(
    (await app.inject(authorizeUrl(clientId, pkce().challenge, { redirect_uri: 'https://xn--80ak6aa92e.com/cb' })))
      .body,
    /To the site <strong>xn--80ak6aa92e\.com<\/strong>[^]*has letters that can look like others \(xn--\)/
  )
})

t.test('RFC 6749 §3.1: a parameter that is there twice is refused', async (t) => {
  const world = await brokerWorld(t)
  const url = authorizeUrl(await register(world.app), pkce().challenge)
  for (
    const more of [
      '&client_id=x',
      '&redirect_uri=https%3A%2F%2Fevil.example.com',
      '&code_challenge_method=plain',
      '&state=x',
      '&unknown=1&unknown=2'
    ]
  ) {
    const { statusCode, headers } = await world.app.inject(url + more)
    t.equal(statusCode, 400, more)
    t.notOk('location' in headers)
  }
  t.match(
    (await world.app.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'grant_type=refresh_token&grant_type=refresh_token'
    })).json(),
    { error: 'invalid_request' }
  )
})

t.test('RFC 8707: a token for another server cannot be asked for', async (t) => {
  const world = await brokerWorld(t)
  const clientId = await register(world.app)
  for (const resource of [`${base}/mcp`, `${base}/mcp/`, base, `${base}/`, undefined]) {
    const url = new URL(await allow(browser(world.app), authorizeUrl(clientId, pkce().challenge, { resource })))
    t.equal(url.searchParams.get('resource'), `${base}/mcp`, 'one spelling is carried')
  }
  for (
    const resource of [
      'https://other.example.com/mcp',
      `${base}/admin`,
      `${base}/mcp#x`,
      `${base}/MCP`,
      'https://shop.example.com.evil.example.com/mcp',
      'mcp'
    ]
  ) {
    const { headers } = await world.app.inject(authorizeUrl(clientId, pkce().challenge, { resource }))
    const answer = new URL(String(headers.location)).searchParams
    t.strictSame([answer.get('error'), answer.get('error_description')], [
      'invalid_target',
      `resource must be ${base}/mcp`
    ], resource)
  }
})

t.test('requests that this server does not do are refused by name', async (t) => {
  const world = await brokerWorld(t)
  const clientId = await register(world.app)
  for (
    const [change, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: 'code id_token' }, 'unsupported_response_type'],
      [{ response_type: undefined }, 'invalid_request'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
      [{ request: 'x' }, 'request_not_supported'],
      [{ request_uri: 'https://x' }, 'request_uri_not_supported'],
      [{ scope: 'phone admin' }, 'invalid_scope'],
      [{ prompt: 'none' }, 'interaction_required']
    ] as const
  ) {
    const { headers } = await world.app.inject(authorizeUrl(clientId, pkce().challenge, change))
    const answer = new URL(String(headers.location)).searchParams
    t.strictSame([answer.get('error'), answer.get('state'), answer.get('iss')], [
      error,
      'the state of the client',
      `${base}/oauth`
    ], JSON.stringify(change))
  }
  const narrowed = new URL(
    await allow(browser(world.app), authorizeUrl(clientId, pkce().challenge, { scope: 'openid phone openid' }))
  )
  t.equal(narrowed.searchParams.get('scope'), 'openid', 'of several scopes, those that there are')
  for (const state of ['x'.repeat(4097), 'é', '\n']) {
    t.equal(
      (await world.app.inject(authorizeUrl(clientId, pkce().challenge, { state }))).statusCode,
      400,
      'a state that cannot be kept'
    )
  }
  const stateless = await signIn(world, authorizeUrl(clientId, pkce().challenge, { state: undefined }))
  t.notOk(stateless.searchParams.has('state'))
})

t.test('a browser with many sign-ins at once keeps the last ones, so that its cookies stay small', async (t) => {
  const { app, idp } = await brokerWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  const urls: string[] = []
  for (let i = 0; i < 20; i++) {
    urls.push(
      await allow(person, authorizeUrl(clientId, pkce().challenge, { state: 'x'.repeat(i % 2 === 0 ? 4096 : 1000) }))
    )
  }
  for (const [name, value] of person.cookies) t.ok(name.length + value.length < 4000, name)
  const total = [...person.cookies].reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  t.ok(total < 12_000, `${total} characters, of the 16 KiB that Node.js accepts`)
  t.match(
    (await person.get(idp.signIn(urls[0]!).href)).body,
    /took too long, or was replaced by later ones in this browser/
  )
  for (const url of urls.slice(-1)) t.equal((await person.get(idp.signIn(url).href)).statusCode, 303)
})

t.test('two tabs of one browser do not disturb each other', async (t) => {
  const { app, idp } = await brokerWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  const pages = [
    await person.get(authorizeUrl(clientId, pkce().challenge, { state: 'one' })),
    await person.get(authorizeUrl(clientId, pkce().challenge, { state: 'two' }))
  ]
  const urls = []
  for (const { body } of pages) {
    urls.push(
      String((await person.post('/oauth/authorize', { request: sealedIn(body), decision: 'allow' })).headers.location)
    )
  }
  const states = []
  for (const url of urls) {
    states.push(new URL(String((await person.get(idp.signIn(url).href)).headers.location)).searchParams.get('state'))
  }
  t.strictSame(states, ['one', 'two'])
})

t.test('no secret is logged', async (t) => {
  const lines: string[] = []
  const world = await brokerWorld(t, {
    server: {
      logger: {
        level: 'trace',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  })
  const grant = await grantOf(world)
  const tokens = (await token(world, { ...grant })).json()
  const used = { grant_type: 'refresh_token', client_id: grant.client_id, refresh_token: tokens.refresh_token }
  await token(world, used)
  await token(world, { ...used, client_id: 'x' })
  await token(world, { ...grant })
  await world.app.inject(`/oauth/callback?code=a-code-of-somebody&state=${'s'.repeat(43)}`)
  // clients that send their form as a query, or to the wrong URL
  const query = new URLSearchParams(used).toString()
  for (const url of ['/oauth/token', '/oauth/revoke', '/oauth/clients']) {
    t.equal((await world.app.inject({ method: 'POST', url: `${url}?${query}` })).statusCode, 400)
  }
  const log = lines.join('')
  t.match(log, /"url":"\/oauth\/callback"/)
  t.match(log, /The code was used before/)
  for (
    const [what, secret] of Object.entries({
      code: grant.code,
      verifier: grant.code_verifier,
      access: tokens.access_token,
      refresh: tokens.refresh_token,
      provider: world.idp.calls[0]!.form['code']!,
      providerVerifier: world.idp.calls[0]!.form['code_verifier']!,
      callback: 'a-code-of-somebody'
    })
  ) t.notOk(log.includes(secret), what)
})

t.test('a store that fails stops sign-ins for a while, and does not say where it is', async (t) => {
  const lines: string[] = []
  const raise = async () => {
    throw new Error('connect ECONNREFUSED 10.1.2.3:5432')
  }
  const world = await brokerWorld(t, {
    broker: { store: { raise } },
    server: {
      logger: {
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  })
  const { statusCode, headers, body } = await token(world, { ...await grantOf(world) })
  t.equal(statusCode, 503)
  t.match(headers, { 'retry-after': '5', 'cache-control': 'no-store' })
  t.match(JSON.parse(body), { error: 'temporarily_unavailable' })
  t.notMatch(body, '10.1.2.3')
  t.match(lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50), [{
    msg: 'the store of used codes and refresh tokens failed',
    err: { message: 'connect ECONNREFUSED 10.1.2.3:5432' }
  }])
  t.strictSame(world.idp.calls, [], 'nothing is exchanged while nobody knows what was used')
})

t.test('a body that is larger than 64 KiB, or of any media type, does no harm', async (t) => {
  const world = await brokerWorld(t)
  for (const url of ['/oauth/token', '/oauth/revoke', '/oauth/clients', '/oauth/authorize']) {
    t.equal(
      (await world.app.inject({
        method: 'POST',
        url,
        payload: 'x'.repeat(65_536),
        headers: { 'content-type': 'text/plain' }
      })).statusCode,
      400,
      url
    )
    const large = await world.app.inject({
      method: 'POST',
      url,
      payload: 'x'.repeat(65_537),
      headers: { 'content-type': 'text/plain' }
    })
    t.strictSame(large.json(), {
      statusCode: 413,
      code: 'FST_ERR_CTP_BODY_TOO_LARGE',
      error: 'Payload Too Large',
      message: 'Request body is too large'
    }, url)
    for (const type of ['application/json', 'multipart/form-data', ';;;', 'text/xml; charset=utf-7']) {
      t.equal(
        (await world.app.inject({
          method: 'POST',
          url,
          payload: '{"grant_type":"x"',
          headers: { 'content-type': type }
        })).statusCode,
        400,
        `${url} ${type}`
      )
    }
    for (const method of ['PUT', 'DELETE', 'PATCH'] as const) {
      t.equal((await world.app.inject({ method, url })).statusCode, 404)
    }
  }
})

t.test('other routes of the host are as before', async (t) => {
  const idp = await fakeIdp(t)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(oauthBroker, {
    publicBaseUrl: base,
    issuer: idp.issuer,
    clientId: 'x',
    secrets: [{ id: 'a', secret: 'x'.repeat(32) }]
  })
  app.post('/echo', async ({ body }) => body)
  t.strictSame((await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } })).json(), { a: 1 })
  t.equal(
    (await app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': 'text/xml' }, payload: 'x' }))
      .statusCode,
    415
  )
  t.notOk('content-security-policy' in (await app.inject({ method: 'POST', url: '/echo', payload: {} })).headers)
})

t.test('two sign-ins that start at once in a new browser both end, and so do four after another', async (t) => {
  const { app, idp } = await brokerWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  const open = (state: string) => person.get(authorizeUrl(clientId, pkce().challenge, { state }))
  const pages = [...await Promise.all([open('0'), open('1')]), await open('2'), await open('3')]
  const urls = []
  for (const { body } of pages) {
    urls.push(
      String((await person.post('/oauth/authorize', { request: sealedIn(body), decision: 'allow' })).headers.location)
    )
  }
  for (const [i, url] of urls.entries()) {
    t.equal(
      new URL(String((await person.get(idp.signIn(url).href)).headers.location)).searchParams.get('state'),
      String(i)
    )
  }
  for (let i = 0; i < 50; i++) await open('x')
  t.ok(
    [...person.cookies].reduce((sum, [name, value]) => sum + name.length + value.length, 0) < 2000,
    'unanswered questions are forgotten'
  )
})
