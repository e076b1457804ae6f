import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Locator } from 'playwright-core'
import t from 'tap'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

t.test(
  'a newcomer lets an agent in and takes back what it did; an admin mends the accounts',
  { skip: withoutChromium },
  async (t) => {
    const { baseUrl, demo, person } = await openDemo(t)
    const browser = await openBrowser(t)
    const kim = await signIn(browser, baseUrl, person('kim'))
    let key = ''
    let agent: Client
    interface Product {
      readonly id: string
      readonly price_amount: number
    }
    const products = async (): Promise<readonly Product[]> =>
      ((await agent.callTool({ name: 'list_products', arguments: { filter: { q: 'Cream' }, sort: 'name' } }))
        .structuredContent as { result: Product[] }).result.slice(0, 5)
    const prices = async () => (await products()).map(({ price_amount: amount }) => amount)
    let before: readonly number[] = []

    await t.test('kim makes a key, as the page shows it', async (t) => {
      await kim.getByRole('link', { name: 'API keys', exact: true }).click()
      await kim.getByRole('button', { name: 'New key' }).click()
      await kim.getByRole('dialog').getByLabel(/^Name/).fill('Spring prices')
      await kim.keyboard.press('Escape')
      await kim.getByText('Discard what you typed?').waitFor()
      await kim.getByRole('button', { name: 'Keep editing' }).click()
      t.equal(
        await kim.getByRole('dialog').getByLabel(/^Name/).inputValue(),
        'Spring prices',
        'nothing is lost without a question'
      )
      await kim.getByLabel(/^Read and change the catalog/).check()
      await kim.getByRole('button', { name: 'Create the key' }).click()
      const ready = kim.getByRole('dialog', { name: 'Your key is ready' })
      await ready.waitFor()
      await ready.getByRole('button', { name: 'Copy' }).first().click()
      key = /shop_\w+/.exec(await kim.evaluate('navigator.clipboard.readText()'))![0]
      const first = ready.getByRole('status')
      await first.getByText('Waiting for the first call…').waitFor()
      agent = new Client({ name: 'newcomer', title: '<b>New</b>\u202ecomer', version: '1.0.0' })
      await agent.connect(
        new StreamableHTTPClientTransport(new URL(demo.mcp_url), { requestInit: { headers: { 'x-api-key': key } } })
      )
      await first.getByText('Connected as \u2068<b>New</b>\u202ecomer\u2069 1.0.0. It has not called a tool yet.')
        .waitFor()
      before = await prices()
      await first.getByText(/ It called list_products\.$/).waitFor()
      await kim.getByRole('button', { name: 'Done' }).click()
    })

    await t.test('a client of the MCP SDK changes five products with it', async (t) => {
      t.equal(before.length, 5)
      for (const { id, price_amount: amount } of await products()) {
        t.notOk(
          (await agent.callTool({ name: 'update_product', arguments: { product_id: id, price_amount: amount + 100 } }))
            .isError
        )
      }
      t.strictSame(await prices(), before.map((amount) => amount + 100))
      t.ok(
        (await agent.callTool({
          name: 'update_product',
          arguments: {
            product_id: (await products())[0]!.id,
            price_amount: '79.00',
            metadata: { password: 'canary', note: '<img src=x onerror=alert(1)>' }
          }
        })).isError
      )
    })

    await t.test('kim sees the agent at work, each of its changes, and undoes all of them', async (t) => {
      await kim.getByRole('link', { name: 'Home', exact: true }).click()
      const work = kim.getByRole('region', { name: 'Agents at work' })
      await work.getByText(/^\d+ tool calls in the last 24 hours, 1 error$/).waitFor()
      await work.getByRole('row', { name: /^update_product 6 1 / }).waitFor()
      t.strictSame(await violations(kim), [])
      await work.getByRole('link', { name: '1 error of Spring prices' }).click()
      await kim.getByRole('heading', { level: 1, name: 'Spring prices' }).waitFor()
      const failed = kim.getByRole('region', { name: 'Failed calls' }).getByRole('listitem')
      await failed.getByText(/^422 Unprocessable Entity: price_amount must be/).waitFor()
      await failed.getByText('Arguments').click()
      t.match(
        await failed.locator('details pre').innerText(),
        /"price_amount": "79.00",\n {2}"metadata": \{\n {4}"password": "\[redacted\]",\n {4}"note": "<img/
      )
      await kim.getByRole('row', { name: 'update_product 6 1' }).waitFor()
      await kim.getByRole('region', { name: 'Latest changes' }).getByRole('listitem').nth(4).waitFor()
      await kim.getByText('\u2068<b>New</b>\u202ecomer\u2069 1.0.0', { exact: true }).waitFor()
      await kim.setViewportSize({ width: 400, height: 860 })
      t.ok(
        await comesTrue(kim, 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
        'nothing lies beside a phone'
      )
      t.strictSame(await violations(kim), [])
      await kim.setViewportSize({ width: 1280, height: 860 })
      await kim.getByRole('link', { name: 'Activity', exact: true }).click()
      await kim.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
      await kim.getByText('Spring prices changed 5 products').waitFor()
      await kim.getByRole('link', { name: 'Each change' }).click()
      const changes = kim.getByRole('listitem').filter({ hasText: 'update_product' })
      await changes.nth(4).waitFor()
      t.match(await changes.first().innerText(), /^Spring prices changed .*: Price/)
      await kim.getByRole('link', { name: 'Spring prices', exact: true }).first().click()
      await kim.getByRole('button', { name: /^Undo all changes of the key .+ since…$/ }).click()
      const since = kim.getByRole('dialog').getByLabel('Since')
      let time = ''
      while (time === '') time = await since.inputValue()
      await since.fill('20265-01-01T00:00')
      const [check, undo] = ['Check', 'Undo now'].map((name) => kim.getByRole('button', { name })) as [Locator, Locator]
      await check.click()
      await kim.getByRole('dialog').getByRole('alert').waitFor()
      for (const typed of [time, '2026-01-01T00:00', time]) {
        await since.fill(typed)
        t.ok(await undo.isDisabled(), 'nothing is undone since a time that was not checked')
        await check.click()
        await kim.getByText('5 changes will be undone.').waitFor()
      }
      await undo.click()
      await kim.getByText('5 changes undone').waitFor()
      await kim.getByRole('dialog').waitFor({ state: 'hidden' })
      t.strictSame(await prices(), before)
    })

    await t.test('an undo that a later change refuses leads to that change', async (t) => {
      const { id } = (await products())[0]!
      for (const amount of [1000, 2000]) {
        await agent.callTool({
          name: 'update_product',
          arguments: { product_id: id, price_amount: amount }
        })
      }
      await kim.goto(
        `${baseUrl}/console/shops/copper-kettle/history?filter=${
          encodeURIComponent(JSON.stringify({ record_id: id, actor_kind: ['api-key'] }))
        }`
      )
      const older = kim.getByRole('listitem').filter({ hasText: 'update_product' }).nth(1)
      await older.getByRole('button', { name: /^Undo/ }).click()
      await kim.getByRole('link', { name: 'Show the later change' }).click()
      await kim.waitForURL(/filter=%7B%22id%22/)
      await kim.getByRole('listitem').filter({ hasText: 'update_product' }).getByRole('button', { name: /^Details/ })
        .click()
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

      // A server that is too busy for a moment must not break the page.
      await ada.route('**/assets/run-page*', async (route) => await route.fulfill({ status: 503, body: '' }), {
        times: 1
      })
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
      await ada.getByRole('dialog', { name: 'Change accounts of all shops?' }).getByRole('button', { name: 'Start' })
        .click()
      await ada.getByText(/· Done/).waitFor()
      await ada.getByRole('button', { name: /^linked \(/ }).waitFor()

      await check()
      await ada.getByRole('combobox', { name: 'Compared with' }).click()
      await ada.getByRole('option', { name: /^New since/ }).first().click()
      await ada.getByText('Never synced').first().waitFor()
      t.equal(await ada.getByRole('listitem').filter({ hasText: 'Data differs' }).count(), 0)
      t.strictSame(faultsOf.get(ada), [])
    })
  }
)
