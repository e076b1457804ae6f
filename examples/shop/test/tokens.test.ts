import t from 'tap'
import { tokensIn } from '../bench/tokenizer.ts'
import appOfContract from '../src/contract.ts'

t.test('the list of the tools costs a model fewer than 6,000 tokens', async (t) => {
  const app = await appOfContract()
  t.teardown(async () => { await app.close() })
  await app.ready()
  const tools = app.mcpTools.map(({ route, implied, ...tool }) => tool)
  t.equal(tools.length, 20)
  const tokens = tokensIn({ tools })
  t.comment(`${tokens} tokens`)
  t.ok(tokens > 1000 && tokens < 6000, `${tokens} tokens`)
})
