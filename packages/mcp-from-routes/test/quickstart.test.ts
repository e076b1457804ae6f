import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { connect } from './build.ts'

const program = fileURLToPath(new URL('../../../examples/quickstart/mcp-from-routes.ts', import.meta.url))

t.test('the quickstart program runs, and an agent can use it', async (t) => {
  const child = spawn(process.execPath, [...process.execArgv, program], { env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(async () => {
    const gone = once(child, 'exit')
    child.kill()
    await gone
  })
  const [line] = await once(createInterface(child.stdout), 'line') as [string]
  t.match(line, /^create_note and list_notes at http:\/\/\S+\/mcp$/)
  const client = await connect(t, '2.x auto', new URL(line.slice(line.indexOf('http'))))
  t.match(await client.callTool({ name: 'create_note', arguments: { text: 'Buy milk' } }), { structuredContent: { id: '2', text: 'Buy milk' } })
  t.match(await client.callTool({ name: 'list_notes' }), { structuredContent: [{ id: '1', text: 'Water the plants' }, { id: '2', text: 'Buy milk' }] })
  await t.rejects(client.callTool({ name: 'delete_notes' }), { code: -32602 })
})

t.test('the README shows the quickstart program as it is', async (t) => {
  const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8')
  t.ok(readme.includes(`\`\`\`ts\n${readFileSync(program, 'utf8')}\`\`\``))
})
