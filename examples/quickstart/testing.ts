import assert from 'node:assert/strict'
import test from 'node:test'
import { agentOf } from 'mcp-from-routes/testing'
import { buildApp } from './notes.ts' // Makes an app, and does not listen.

test('an agent creates a note', async () => {
  const agent = await agentOf(await buildApp())
  const { structuredContent } = await agent.call('create_note', { text: 'Buy milk' })
  assert.deepEqual(structuredContent, { id: '2', text: 'Buy milk' })
})

test('an agent that looks for a note that is gone is told so', async () => {
  const agent = await agentOf(await buildApp(), { answer: () => 'accept' })
  const { isError, text } = await agent.call('delete_note', { id: '7' })
  assert.ok(isError)
  assert.equal(text, '404 Not Found: No note 7')
})

test('a note is deleted if the person says yes', async () => {
  const app = await buildApp()
  for (const [answer, said] of [['decline', /the person said no/], ['accept', /^204/]] as const) {
    const agent = await agentOf(app, { answer: () => answer })
    assert.match((await agent.call('delete_note', { id: '1' })).text, said)
    assert.deepEqual(agent.asked.map(({ message }) => message), ['Delete the note “Water the plants”?'])
  }
})
