import t from 'tap'
import { connect, post } from './build.ts'
import { runProgram } from './program.ts'

t.test('an API with cookie sessions serves agents by tokens, and the cookie opens no tool', async (t) => {
  const line = await runProgram(t, 'cookie-sessions')
  const url = (path: string): URL => new URL(path, line.replace('Notes at ', ''))
  const signIn = async (name: string): Promise<string> => {
    const { status, headers } = await fetch(url('/session'), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name }) })
    t.equal(status, 204)
    return String(headers.get('set-cookie')).split(';', 1)[0] ?? ''
  }
  const cookie = await signIn('ada')
  t.strictSame(await (await fetch(url('/notes'), { headers: { cookie } })).json(), ['Water the plants'], 'the web application goes on as before')
  t.equal((await fetch(url('/agent-token'), { method: 'POST' })).status, 401)
  const { token } = await (await fetch(url('/agent-token'), { method: 'POST', headers: { cookie } })).json() as { token: string }

  const client = await connect(t, '2.x auto', url('/mcp'), { authorization: `Bearer ${token}` })
  t.match(await client.callTool({ name: 'list_notes' }), { structuredContent: { result: ['Water the plants'] } })
  const other = await connect(t, '2.x auto', url('/mcp'), { authorization: `Bearer ${token}`, cookie: await signIn('kim') })
  t.match(await other.callTool({ name: 'list_notes' }), { structuredContent: { result: ['Water the plants'] } }, 'the token counts, not the cookie')
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_notes' } }
  for (const headers of [{ cookie }, ...['Bearer x', 'Bearer', 'Bearer x y', 'Basic YWRhOng=', 'x', ''].map((authorization) => ({ cookie, authorization }))]) {
    const refused = await post(url('/mcp'), call, headers)
    t.equal(refused.status, 401)
    t.equal(refused.headers.get('www-authenticate'), 'Bearer')
  }
})
