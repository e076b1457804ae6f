import t, { type Test } from 'tap'
import {
  allow,
  authorizeUrl,
  base,
  brokerWorld,
  browser,
  grantOf,
  loopback,
  pkce,
  register,
  sealedIn,
  signIn,
  token,
  type World
} from './world.ts'

/** A request to sign in, changed. @returns the status, and the answer that the client gets by a redirect */
async function asked (world: World, change: Readonly<Record<string, string | undefined>>, uris?: readonly string[]) {
  const { statusCode, headers } = await world.app.inject(
    authorizeUrl(await register(world.app, uris), pkce().challenge, change)
  )
  const answer = headers.location === undefined ? undefined : new URL(String(headers.location)).searchParams
  return { statusCode, error: answer?.get('error'), state: answer?.get('state') }
}

const state = 'the state of the client'

/** The modules of OpenID's conformance suite that are about what the broker does, by hand. */
const modules: Readonly<Record<string, (t: Test, world: World) => Promise<void>>> = {
  async 'oidcc-server' (t, world) {
    t.equal((await token(world, { ...await grantOf(world) })).statusCode, 200)
  },
  async 'oidcc-response-type-missing' (t, world) {
    t.match(await asked(world, { response_type: undefined }), { error: 'invalid_request', state })
  },
  async 'oidcc-codereuse' (t, world) {
    const grant = await grantOf(world)
    await token(world, { ...grant })
    t.match((await token(world, { ...grant })).json(), { error: 'invalid_grant' })
  },
  async 'oidcc-codereuse-30seconds' (t, world) {
    const grant = await grantOf(world)
    await token(world, { ...grant })
    await later(t, 30)
    t.match((await token(world, { ...grant })).json(), { error: 'invalid_grant' })
  },
  async 'oidcc-ensure-registered-redirect-uri' (t, world) {
    t.match(await asked(world, { redirect_uri: 'https://other.example.com/callback' }), {
      statusCode: 400,
      error: undefined
    })
  },
  async 'oidcc-ensure-request-with-unknown-parameter-succeeds' (t, world) {
    t.match(await asked(world, { extra: 'foobar' }), { statusCode: 200 })
  },
  async 'oidcc-ensure-request-with-acr-values-succeeds' (t, world) {
    t.match(
      await asked(world, {
        acr_values: '1 2',
        claims: '{}',
        display: 'popup',
        ui_locales: 'se',
        login_hint: 'ada',
        max_age: '1'
      }),
      { statusCode: 200 }
    )
  },
  async 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow' (t, world) {
    t.match(await asked(world, { nonce: undefined }), { statusCode: 200 })
  },
  async 'oidcc-ensure-request-with-valid-pkce-succeeds' (t, world) {
    t.equal((await token(world, { ...await grantOf(world) })).statusCode, 200)
  },
  async 'oidcc-prompt-none-not-logged-in' (t, world) {
    t.match(await asked(world, { prompt: 'none' }), { error: 'interaction_required', state })
  },
  async 'oidcc-refresh-token' (t, world) {
    const grant = await grantOf(world)
    const { refresh_token: refreshToken } = (await token(world, { ...grant })).json()
    t.equal(
      (await token(world, { grant_type: 'refresh_token', client_id: grant.client_id, refresh_token: refreshToken }))
        .statusCode,
      200
    )
    t.match(
      (await token(world, {
        grant_type: 'refresh_token',
        client_id: await register(world.app),
        refresh_token: refreshToken
      })).json(),
      { error: 'invalid_grant' }
    )
  },
  async 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported' (t, world) {
    t.match(await asked(world, { request: 'eyJhbGciOiJub25lIn0.e30.' }), { error: 'request_not_supported', state })
  },
  async 'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported' (t, world) {
    t.match(await asked(world, { request_uri: 'https://other.example.com/request' }), {
      error: 'request_uri_not_supported',
      state
    })
  },
  async 'fapi2-security-profile-final-ensure-authorization-request-without-state-success' (t, world) {
    t.notOk(
      (await signIn(world, authorizeUrl(await register(world.app), pkce().challenge, { state: undefined })))
        .searchParams.has('state')
    )
  },
  async 'fapi2-security-profile-final-ensure-authorization-request-with-long-state' (t, world) {
    const long = 'x'.repeat(1000)
    t.equal(
      (await signIn(world, authorizeUrl(await register(world.app), pkce().challenge, { state: long }))).searchParams
        .get('state'),
      long
    )
  },
  async 'fapi2-security-profile-final-ensure-other-scope-order-succeeds' (t, world) {
    t.match(await asked(world, { scope: 'profile email openid' }), { statusCode: 200 })
  },
  async 'fapi2-security-profile-final-ensure-redirect-uri-in-authorization-request' (t, world) {
    t.match(await asked(world, { redirect_uri: undefined }), { statusCode: 400, error: undefined })
    t.match(
      await asked(world, { redirect_uri: undefined }, ['https://agent.example.com/cb']),
      { statusCode: 200 },
      'the registered one, if there is one only'
    )
  },
  async 'fapi2-security-profile-final-ensure-response-type-token-fails' (t, world) {
    t.match(await asked(world, { response_type: 'token' }), { error: 'unsupported_response_type', state })
  },
  async 'fapi2-security-profile-final-ensure-response-type-code-idtoken-fails' (t, world) {
    t.match(await asked(world, { response_type: 'code id_token' }), { error: 'unsupported_response_type', state })
  },
  async 'fapi2-security-profile-final-par-ensure-pkce-required' (t, world) {
    t.match(await asked(world, { code_challenge: undefined }), { error: 'invalid_request', state })
  },
  async 'fapi2-security-profile-final-par-plain-pkce-rejected' (t, world) {
    t.match(await asked(world, { code_challenge_method: 'plain' }), { error: 'invalid_request', state })
  },
  async 'fapi2-security-profile-final-ensure-pkce-code-verifier-required' (t, world) {
    t.match((await token(world, { ...await grantOf(world), code_verifier: undefined })).json(), {
      error: 'invalid_request'
    })
  },
  async 'fapi2-security-profile-final-incorrect-pkce-code-verifier-rejected' (t, world) {
    t.match((await token(world, { ...await grantOf(world), code_verifier: pkce().verifier })).json(), {
      error: 'invalid_grant'
    })
  },
  async 'fapi2-security-profile-final-ensure-authorization-code-is-bound-to-client' (t, world) {
    t.match((await token(world, { ...await grantOf(world), client_id: await register(world.app) })).json(), {
      error: 'invalid_grant'
    })
  },
  async 'fapi2-security-profile-final-attempt-reuse-authorization-code-after-one-second' (t, world) {
    const grant = await grantOf(world)
    const { refresh_token: refreshToken } = (await token(world, { ...grant })).json()
    await later(t, 1)
    t.match((await token(world, { ...grant })).json(), { error: 'invalid_grant' })
    t.match(
      (await token(world, { grant_type: 'refresh_token', client_id: grant.client_id, refresh_token: refreshToken }))
        .json(),
      { error: 'invalid_grant' },
      'the sign-in is over'
    )
  },
  async 'fapi2-security-profile-final-ensure-token-endpoint-fails-with-expired-auth-code' (t, world) {
    const grant = await grantOf(world)
    await later(t, 62)
    t.match((await token(world, { ...grant })).json(), { error: 'invalid_grant' })
  },
  async 'fapi2-security-profile-final-user-rejects-authentication' (t, world) {
    const person = browser(world.app)
    const { body } = await person.get(authorizeUrl(await register(world.app), pkce().challenge))
    const consent = await person.post('/oauth/authorize', { request: sealedIn(body), decision: 'deny' })
    const callback = world.idp.signIn(await allow(person, authorizeUrl(await register(world.app), pkce().challenge)), {
      error: 'access_denied'
    })
    callback.searchParams.delete('code')
    const login = await person.get(callback.href)
    for (const { headers } of [consent, login]) {
      const { searchParams, origin, pathname } = new URL(String(headers.location))
      t.equal(origin + pathname, loopback)
      t.strictSame([searchParams.get('error'), searchParams.get('state'), searchParams.get('iss')], [
        'access_denied',
        state,
        `${base}/oauth`
      ])
    }
  }
}

async function later (t: Test, seconds: number): Promise<void> {
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() + seconds * 1000
}

for (const [name, run] of Object.entries(modules)) {
  t.test(name, async (t) => {
    await run(t, await brokerWorld(t))
  })
}
