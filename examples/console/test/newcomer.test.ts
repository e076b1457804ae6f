import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t from 'tap'
import { readDemo, seededData, start } from '../../shop/test/process.ts'
import { faultsOf, openBrowser, signIn, violations, withoutChromium } from './browser.ts'

t.test('a newcomer lets an agent in and takes back what it did; an admin mends the accounts', { skip: withoutChromium }, async (t) => {
  const settings = await seededData(t)
  const { baseUrl } = await start(t, 'demo/start', settings)
  const demo = readDemo(settings.DATA_DIR)
  const person = (name: string) => demo.users.find(({ username }) => username === name)!
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'))
  let key = ''
  let agent: Client

  await t.test('kim makes a key, as the page shows it', async (t) => {
    await kim.getByRole('link', { name: 'API keys', exact: true }).click()
    await kim.getByRole('button', { name: 'New key' }).click()
    await kim.getByRole('dialog').getByLabel(/^Name/).fill('Spring prices')
    await kim.keyboard.press('Escape')
    await kim.getByText('Discard what you typed?').waitFor()
    await kim.getByRole('button', { name: 'Keep editing' }).click()
    t.equal(await kim.getByRole('dialog').getByLabel(/^Name/).inputValue(), 'Spring prices', 'nothing is lost without a question')
    await kim.getByLabel(/^Read and change the catalog/).check()
    await kim.getByRole('button', { name: 'Create the key' }).click()
    const ready = kim.getByRole('dialog', { name: 'Your key is ready' })
    await ready.waitFor()
    await ready.getByRole('button', { name: 'Copy' }).first().click()
    key = /shop_\w+/.exec(await kim.evaluate('navigator.clipboard.readText()'))![0]
    await kim.getByRole('button', { name: 'Done' }).click()
  })

  interface Product { readonly id: string, readonly price_amount: number }
  const products = async (): Promise<readonly Product[]> => ((await agent.callTool({ name: 'list_products', arguments: { filter: { q: 'Cream' }, sort: 'name' } })).structuredContent as { result: Product[] }).result.slice(0, 5)
  const prices = async () => (await products()).map(({ price_amount: amount }) => amount)
  let before: readonly number[] = []

  await t.test('a client of the MCP SDK changes five products with it', async (t) => {
    agent = new Client({ name: 'newcomer', version: '1.0.0' })
    await agent.connect(new StreamableHTTPClientTransport(new URL(demo.mcp_url), { requestInit: { headers: { 'x-api-key': key } } }))
    before = await prices()
    t.equal(before.length, 5)
    for (const { id, price_amount: amount } of await products()) {
      t.notOk((await agent.callTool({ name: 'update_product', arguments: { product_id: id, price_amount: amount + 100 } })).isError)
    }
    t.strictSame(await prices(), before.map((amount) => amount + 100))
  })

  await t.test('kim sees the agent at work, each of its changes, and undoes all of them', async (t) => {
    await kim.getByRole('link', { name: 'Home', exact: true }).click()
    const work = kim.getByRole('region', { name: 'Agents at work' })
    await work.getByText(/^\d+ tool calls in the last 24 hours, 0 errors$/).waitFor()
    await work.getByRole('row', { name: /^update_product 5 0 / }).waitFor()
    t.strictSame(await violations(kim), [])
    await kim.getByRole('link', { name: 'Activity', exact: true }).click()
    const changes = kim.getByRole('listitem').filter({ hasText: 'update_product' })
    await changes.nth(4).waitFor()
    t.match(await changes.first().innerText(), /^Spring prices changed .*: Price/)
    await kim.getByRole('link', { name: 'Spring prices', exact: true }).first().click()
    await kim.getByRole('button', { name: 'Undo everything of this actor' }).click()
    const since = kim.getByRole('dialog').getByLabel('Since')
    let time = ''
    while (time === '') time = await since.inputValue()
    await since.fill('20265-01-01T00:00')
    await kim.getByRole('button', { name: 'Check' }).click()
    await kim.getByRole('dialog').getByRole('alert').waitFor()
    await since.fill(time)
    await kim.getByRole('button', { name: 'Check' }).click()
    await kim.getByText('5 changes will be undone.').waitFor()
    await kim.getByRole('button', { name: 'Undo now' }).click()
    await kim.getByText('5 changes undone').waitFor()
    await kim.getByRole('dialog').waitFor({ state: 'hidden' })
    t.strictSame(await prices(), before)
  })

  await t.test('an undo that a later change refuses leads to that change', async (t) => {
    const { id } = (await products())[0]!
    for (const amount of [1000, 2000]) await agent.callTool({ name: 'update_product', arguments: { product_id: id, price_amount: amount } })
    await kim.goto(`${baseUrl}/console/shops/copper-kettle/history?filter=${encodeURIComponent(JSON.stringify({ record_id: id, actor_kind: ['api-key'] }))}`)
    const older = kim.getByRole('listitem').filter({ hasText: 'update_product' }).nth(1)
    await older.getByRole('button', { name: /^Undo/ }).click()
    await kim.getByRole('link', { name: 'Show the later change' }).click()
    await kim.waitForURL(/filter=%7B%22id%22/)
    await kim.getByRole('listitem').filter({ hasText: 'update_product' }).getByRole('button', { name: /^Details/ }).click()
    await kim.getByRole('cell', { name: '$20.00' }).waitFor()
    await agent.close()
    t.strictSame(faultsOf.get(kim), [])
  })

  await t.test('ada finds the accounts that are amiss, mends them, and the next run finds nothing new', async (t) => {
    const ada = await signIn(browser, baseUrl, person('ada'), '/console/admin')
    await ada.getByRole('link', { name: 'Payment keys' }).click()
    await ada.getByRole('button', { name: 'Check the key of North Trail Outfitters with the provider' }).click()
    await ada.getByText(/^The provider does not accept the key/).waitFor()
    t.strictSame(await violations(ada), [])
    await ada.getByRole('button', { name: 'Replace the key of North Trail Outfitters' }).click()
    await ada.getByRole('dialog').getByLabel('New secret key').fill('no key')
    await ada.getByRole('button', { name: 'Save key' }).click()
    await ada.getByText(/^Pay secret key must/).first().waitFor()
    await ada.getByRole('button', { name: 'Cancel' }).click()
    await ada.getByRole('button', { name: 'Discard' }).click()

    const check = async () => {
      await ada.getByRole('link', { name: 'Runs', exact: true }).click()
      await ada.getByRole('button', { name: 'Start', exact: true }).click()
      await ada.waitForURL(/reconciliation\/\w+/)
      await ada.getByText(/· Done/).waitFor()
    }
    await check()
    // Found by the data that differs, mended by taking it over.
    const differs = ada.getByRole('button', { name: /^Data differs \(/ })
    const amiss = Number(/\d+/.exec(await differs.innerText()))
    t.ok(amiss > 0)
    await differs.click()
    for (let left = amiss; left > 0; left--) {
      await ada.getByRole('button', { name: 'Take over' }).first().click()
      await ada.getByText('Taken over').nth(amiss - left).waitFor()
    }
    // Found by a run that looks for customers, mended by it.
    await ada.getByRole('link', { name: 'Runs', exact: true }).click()
    await ada.getByRole('combobox', { name: 'What' }).click()
    await ada.getByRole('option', { name: 'Find customers and link them' }).click()
    await ada.getByLabel(/Change accounts/).check()
    await ada.getByRole('button', { name: 'Start', exact: true }).click()
    await ada.getByRole('dialog', { name: 'Change accounts of all shops?' }).getByRole('button', { name: 'Start' }).click()
    await ada.getByText(/· Done/).waitFor()
    await ada.getByRole('button', { name: /^linked \(/ }).waitFor()

    await check()
    await ada.getByRole('combobox', { name: 'Compared with' }).click()
    await ada.getByRole('option', { name: /^New since/ }).first().click()
    await ada.getByText('Never synced').first().waitFor()
    t.equal(await ada.getByRole('listitem').filter({ hasText: 'Data differs' }).count(), 0)
    t.strictSame(faultsOf.get(ada), [])
  })
})
