import t from 'tap'
import { tokensIn } from '../bench/tokenizer.ts'
import appOfContract from '../src/contract.ts'
import { toolNames } from './tool-names.ts'

t.test('catalog tools cost a model at most 6,000 tokens, those of imports fewer than 750 more', async (t) => {
  const app = await appOfContract()
  t.teardown(async () => {
    await app.close()
  })
  await app.ready()
  // 268 are for choosing fields; that saves 14,800 of the 17,393 tokens of 50 products.
  // Titles are for people, and _meta is for clients: neither is sent to the model.
  const shown = app.mcpTools.map(({ route, implied, confirm, title, _meta, ...tool }) => tool)
  // Most agents have a key, which implies the shop, or an older protocol: their lists do not ask for the header.
  const tools = JSON.parse(JSON.stringify(shown).replaceAll(',"x-mcp-header":"Shop-Id"', '')) as typeof shown
  const catalog = tools.filter(({ name }) => toolNames.includes(name))
  t.strictSame([catalog.length, tools.length], [20, 23])
  const tokens = tokensIn({ tools: catalog })
  const more = tokensIn({ tools }) - tokens
  t.comment(`${more} tokens of imports`)
  t.ok(more < 750, `${more} tokens`)
  t.comment(`${tokens} tokens`)
  t.ok(tokens > 1000 && tokens <= 6000, `${tokens} tokens`)
  const header = tokensIn({ tools: shown }) - tokensIn({ tools })
  t.comment(`${header} tokens of the header`)
  t.ok(header > 0 && header < 210, `${header} tokens`)
})
