import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { agentOf } from 'mcp-from-routes/testing'
import { startPayStandIn } from 'pay-reconcile/testing'
import { stripeProvider } from 'pay-reconcile/stripe'
import { buildApp } from '../src/app.ts'
import { createKey } from '../src/auth.ts'
import { openDatabase } from '../src/database.ts'
import { settingsFrom } from '../src/settings.ts'
import { CLIENT_ID, startIssuer } from './issuer.ts'

test('the server', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'starter-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const { issuer, tokenOf, close: closeIssuer } = await startIssuer()
  t.after(closeIssuer)
  const settings = settingsFrom({
    DATA_DIR: dataDir,
    IDP_ISSUER: issuer,
    IDP_CLIENT_ID: CLIENT_ID,
    STRIPE_SECRET_KEY: 'sk_test_starter'
  })
  const { knex, close } = await openDatabase(settings)
  t.after(close)
  const { host, port, protocol, close: closeStripe } = await startPayStandIn({ accounts: { sk_test_starter: {} } })
  t.after(closeStripe)
  const app = await buildApp(settings, knex, { logger: false, provider: stripeProvider({ host, port, protocol }) })
  t.after(() => app.close())
  const headers = { 'x-api-key': await createKey(settings, knex, 'Ours') }
  const theirs = { 'x-api-key': await createKey(settings, knex, 'Theirs') }
  const { id: team } = await knex('teams').where({ name: 'Ours' }).first()
  const notes = `/teams/${team}/notes/`
  const signedIn = (name: string, ...groups: readonly string[]) => ({
    authorization: `Bearer ${tokenOf(name, groups)}`
  })

  await t.test('an agent creates a note and lists it, and a program reads the same', async () => {
    const agent = await agentOf(app, { headers })
    const { structuredContent: note } = await agent.call('create_note', { title: 'Water the plants' })
    assert.deepEqual((await agent.call('list_notes')).structuredContent, { result: [note] })
    const response = await app.inject({ url: notes, headers })
    assert.deepEqual([response.statusCode, response.json()], [200, [note]])
  })

  await t.test('a key of another team is refused, and so is a stranger', async () => {
    const agent = await agentOf(app, { headers: theirs })
    const { isError, text } = await agent.call('list_notes', { team_id: team })
    assert.ok(isError)
    assert.match(text, /^403 /)
    assert.deepEqual((await agent.call('list_notes')).structuredContent, { result: [] })
    assert.equal((await app.inject({ url: notes, headers: theirs })).statusCode, 403)
    assert.equal((await app.inject({ url: notes })).statusCode, 401)
    assert.equal((await app.inject({ url: '/admin/teams', headers })).statusCode, 401)
  })

  await t.test('an agent deletes a note if its person says yes', async () => {
    const { id } = (await app.inject({ method: 'POST', url: notes, headers, payload: { title: 'Old' } })).json()
    for (const [answer, said] of [['decline', /the person said no/], ['accept', /^204/]] as const) {
      const agent = await agentOf(app, { headers, answer: () => answer })
      assert.match((await agent.call('delete_note', { note_id: id })).text, said)
      assert.deepEqual(agent.asked.map(({ message }) => message), ['Delete the note “Old”?'])
    }
    assert.equal((await app.inject({ method: 'DELETE', url: notes + id, headers })).statusCode, 404)
  })

  await t.test('what callers send is checked, and an error of the server tells nothing', async (t) => {
    for (const payload of [{}, { title: '' }, { title: 'x', colour: 'red' }, { title: 'a\0b' }]) {
      assert.equal((await app.inject({ method: 'POST', url: notes, headers, payload })).statusCode, 400)
    }
    await knex.raw('alter table notes rename to hidden')
    t.after(() => knex.raw('alter table hidden rename to notes'))
    const { statusCode, body } = await app.inject({ url: notes, headers })
    assert.equal(statusCode, 500)
    assert.doesNotMatch(body, /relation|select|42P01/)
  })

  await t.test('people reach the teams that they are in', async () => {
    const agent = await agentOf(app, { headers: signedIn('ada', team) })
    assert.equal((await agent.call('list_notes', { team_id: team })).isError, false)
    assert.equal((await app.inject({ url: notes, headers: signedIn('ada', team) })).statusCode, 200)
    assert.equal((await app.inject({ url: notes, headers: signedIn('kim', 'others') })).statusCode, 403)
    assert.equal((await app.inject({ url: `/teams/${team}/api-keys/`, headers: signedIn('kim') })).statusCode, 403)
    const challenge = (await app.inject({ method: 'POST', url: '/mcp' })).headers['www-authenticate']
    assert.match(String(challenge), /resource_metadata="http:\/\/localhost:3000\/\.well-known\//)
    assert.equal((await app.inject('/.well-known/oauth-protected-resource/mcp')).statusCode, 200)
  })

  await t.test('the first billing address makes the customer of a team, and admins see it', async () => {
    const ids = []
    for (const email of ['ada@example.com', 'grace@example.com']) {
      const response = await app.inject({ method: 'PUT', url: `/teams/${team}/billing`, headers, payload: { email } })
      ids.push(response.json().customer_id)
    }
    assert.match(ids[0], /^cus_/)
    assert.equal(ids[1], ids[0])
    const [account] = (await app.inject({
      url: '/admin/teams?missing_pay=false',
      headers: signedIn('root', 'admin')
    })).json()
    assert.equal(account.pay_customer_id, ids[0])
    assert.equal((await app.inject({ url: '/admin/teams', headers: signedIn('ada', team) })).statusCode, 403)
  })
})
