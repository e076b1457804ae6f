import t from 'tap'
import { connect, post } from './build.ts'
import { runProgram } from './program.ts'

t.test('an API with cookie sessions serves agents by keys, and the cookie opens no tool', async (t) => {
  const line = await runProgram(t, 'cookie-sessions')
  const url = (path: string): URL => new URL(path, line.replace('Notes at ', ''))
  const signIn = async (name: string): Promise<string> => {
    const { status, headers } = await fetch(url('/session'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name })
    })
    t.equal(status, 204)
    return String(headers.get('set-cookie')).split(';', 1)[0] ?? ''
  }
  const cookie = await signIn('ada')
  t.strictSame(
    await (await fetch(url('/notes'), { headers: { cookie } })).json(),
    ['Water the plants'],
    'the web application goes on as before'
  )
  const keyOf = async (person: string, cookie: string) =>
    await fetch(url(`/people/${person}/api-keys/`), {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: '{"name":"My agent","scopes":["read"]}'
    })
  t.equal((await keyOf('ada', '')).status, 403)
  t.equal((await keyOf('kim', cookie)).status, 403, 'not for somebody else')
  const made = await (await keyOf('ada', cookie)).json() as { id: string, plaintext: string, created_by: string }
  t.equal(made.created_by, 'ada')
  const token = made.plaintext

  const client = await connect(t, '2.x auto', url('/mcp'), { authorization: `Bearer ${token}` })
  t.match(await client.callTool({ name: 'list_notes' }), { structuredContent: { result: ['Water the plants'] } })
  const other = await connect(t, '2.x auto', url('/mcp'), {
    authorization: `Bearer ${token}`,
    cookie: await signIn('kim')
  })
  t.match(
    await other.callTool({ name: 'list_notes' }),
    { structuredContent: { result: ['Water the plants'] } },
    'the key counts, not the cookie'
  )
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_notes' } }
  for (
    const headers of [
      { cookie },
      ...['Bearer x', 'Bearer', 'Bearer x y', 'Basic YWRhOng=', 'x', ''].map((authorization) => ({
        cookie,
        authorization
      }))
    ]
  ) {
    const refused = await post(url('/mcp'), call, headers)
    t.equal(refused.status, 401)
    t.match(refused.headers.get('www-authenticate'), /^Bearer/)
  }
  const notes = async (key: string) => (await fetch(url('/notes'), { headers: { 'x-api-key': key, cookie } })).status
  t.equal(await notes(token), 200)
  t.equal(
    (await fetch(url(`/people/ada/api-keys/${made.id}`), { method: 'DELETE', headers: { cookie, 'x-api-key': token } }))
      .status,
    204
  )
  t.equal(await notes(token), 401, 'a bad key is not rescued by a cookie')
})
