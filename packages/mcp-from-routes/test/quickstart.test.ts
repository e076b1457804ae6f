import t from 'tap'
import { connect } from './build.ts'
import { runProgram } from './program.ts'

t.test('the quickstart program runs, and an agent can use it', async (t) => {
  const line = await runProgram(t, 'mcp-from-routes')
  t.match(line, /^create_note and list_notes at http:\/\/\S+\/mcp$/)
  const client = await connect(t, '2.x auto', new URL(line.slice(line.indexOf('http'))))
  t.match(await client.callTool({ name: 'create_note', arguments: { text: 'Buy milk' } }), {
    structuredContent: { id: '2', text: 'Buy milk' }
  })
  t.match(await client.callTool({ name: 'list_notes' }), {
    structuredContent: { result: [{ id: '1', text: 'Water the plants' }, { id: '2', text: 'Buy milk' }] }
  })
  await t.rejects(client.callTool({ name: 'delete_notes' }), { code: -32602 })
})
