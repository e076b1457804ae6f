import { readFileSync } from 'node:fs'
import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

t.test('the console in a browser', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person, headersOf } = await openDemo(t)
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const shop = `${baseUrl}/console/shops/copper-kettle`
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'))

  await t.test('an owner signs in at the provider, and nothing of the tokens is stored', async (t) => {
    await kim.getByRole('heading', { name: 'Copper Kettle', level: 1 }).waitFor()
    t.equal(kim.url(), shop)
    t.notMatch(
      await kim.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
      /eyJ|refresh_token/
    )
    // A new page has no token, and gets one without a password.
    await kim.goto(`${shop}/products`)
    await kim.getByRole('row').nth(10).waitFor()
  })

  await t.test('an owner searches, filters and sorts products', async (t) => {
    await kim.getByRole('textbox', { name: /search/i }).fill('kettle')
    await kim.getByRole('rowheader', { name: 'Gooseneck Kettle', exact: false }).first().waitFor()
    await kim.waitForURL(/filter=.*kettle/)
    const [file] = await Promise.all([
      kim.waitForEvent('download'),
      kim.getByRole('button', { name: 'Export' }).click()
    ])
    const { body: matching } = await call(
      'GET',
      `${baseUrl}/shops/${kettle.id}/products?limit=200&filter={"q":"kettle"}`,
      { headers: { 'x-api-key': kettle.api_key } }
    )
    t.equal(
      readFileSync(await file.path(), 'utf8').trim().split('\n').length,
      1 + matching.length,
      'the file has what the list has'
    )
    await kim.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Status', exact: true }).click()
    await kim.getByRole('menuitemcheckbox', { name: 'Archived' }).click()
    await kim.keyboard.press('Escape')
    await kim.getByRole('button', { name: /Status: Archived/ }).waitFor()
    t.match(new URL(kim.url()).searchParams.get('filter'), /"status":\["archived"\]/)
    await kim.getByRole('button', { name: 'Clear all' }).click()
  })

  await t.test('a product shows the problem of a field at the field, keeps what was typed, and is saved', async (t) => {
    const headers = { 'x-api-key': kettle.api_key }
    const { body: [one, other] } = await call('GET', `${baseUrl}/shops/${kettle.id}/products?limit=2&sort=name`, {
      headers
    })
    await kim.goto(`${shop}/products/${one.id}`)
    await kim.getByLabel('SKU').fill(other.sku)
    await kim.getByLabel('Name').fill('<img src=x onerror=alert(1)>')
    await kim.getByLabel('Price', { exact: true }).fill('12,50')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('SKU is taken in this shop', { exact: true }).waitFor()
    t.equal(await kim.evaluate('document.activeElement.name'), 'sku', 'the first wrong field has the focus')
    t.equal(await kim.getByLabel('SKU').getAttribute('aria-invalid'), 'true')
    t.equal(await kim.getByLabel('Name').inputValue(), '<img src=x onerror=alert(1)>')
    await kim.getByLabel('SKU').fill('UNIQUE-1')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByRole('heading', { name: '<img src=x onerror=alert(1)>' }).waitFor()
    const { body: saved } = await call('GET', `${baseUrl}/shops/${kettle.id}/products/${one.id}`, { headers })
    t.match(saved, { name: '<img src=x onerror=alert(1)>', sku: 'UNIQUE-1', price_amount: 1250 })
    t.equal(await kim.locator('img[src=x]').count(), 0)
  })

  await t.test('a session that ended is renewed, or asks to sign in and keeps what was typed', async (t) => {
    await kim.goto(`${shop}/tags/create`)
    await kim.getByLabel('Name').fill('Typed before')
    // The server refuses the token, and the provider the renewal.
    let refused = 0
    await kim.route(
      '**/shops/*/tags',
      async (route) => refused++ === 0 ? await route.fulfill({ status: 401, body: '{}' }) : await route.continue()
    )
    await kim.route(
      `${demo.idp.issuer}/token`,
      async (route) =>
        await route.fulfill({
          status: 400,
          contentType: 'application/json',
          headers: { 'access-control-allow-origin': '*' },
          body: '{"error":"invalid_grant"}'
        }),
      { times: 1 }
    )
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    t.equal(await kim.getByLabel('Name').inputValue(), 'Typed before')
    await kim.getByRole('button', { name: 'Sign in again' }).click()
    await kim.getByRole('rowheader', { name: 'Typed before', exact: true }).waitFor()
    t.equal(refused, 2)
    await kim.unroute('**/shops/*/tags')
  })

  await t.test('an owner moves a category to the top by keyboard: moves are announced, the focus stays', async (t) => {
    await kim.goto(`${shop}/categories`)
    await kim.getByRole('button', { name: 'Move Cookware up' }).focus()
    await kim.evaluate(
      'heard = []; new MutationObserver(([{ target }]) => ' +
        "heard.push(target.textContent)).observe(document.querySelector('body > [aria-live]'), { childList: true, " +
        'characterData: true, subtree: true })'
    )
    const moved = async (times: number) =>
      t.ok(
        await comesTrue(
          kim,
          `heard.filter((text) => text.includes('Cookware was moved')).length === ${times} && ` +
            "document.querySelector('[aria-busy=true]') === null"
        ),
        `announced ${times}`
      )
    await kim.route('**/categories/*', async (route) => await route.fulfill({ status: 401, body: '{}' }), { times: 1 })
    await kim.keyboard.press('Enter')
    await moved(1)
    await kim.keyboard.press('Enter')
    await moved(2)
    t.ok(
      await comesTrue(kim, "document.activeElement.ariaLabel?.endsWith('down')"),
      'the arrow that still leads somewhere has the focus'
    )
    const { body } = await call('GET', `${baseUrl}/shops/${kettle.id}/categories?limit=200`, {
      headers: { 'x-api-key': kettle.api_key }
    })
    const position = (name: string) => body.find((category: { name: string }) => category.name === name).position
    t.ok(position('Cookware') < position('Coffee'))
  })

  await t.test('an owner lets agents delete without a question', async (t) => {
    await kim.goto(`${shop}/settings`)
    await kim.getByLabel('Agents ask a person before they delete').uncheck()
    await kim.getByRole('button', { name: 'Save' }).first().click()
    await kim.getByText('The settings are saved').waitFor()
    t.equal(await kim.getByLabel('Agents ask a person before they delete').isChecked(), false)
    const asKim = await headersOf('kim')
    t.match((await call('GET', `${baseUrl}/shops/${kettle.id}/config`, { headers: asKim })).body, {
      confirm_agent_calls: false
    })
  })

  await t.test('an owner creates a key with some tools, copies a client configuration, and revokes it', async (t) => {
    await kim.goto(`${shop}/api-keys`)
    await kim.getByRole('button', { name: 'New key' }).click()
    await kim.getByRole('dialog').getByLabel(/^Name/).fill('Price watcher')
    await kim.getByLabel('Only certain tools').check()
    await kim.getByLabel('list_products').check()
    await kim.getByRole('button', { name: 'Create the key' }).click()
    await kim.getByRole('dialog', { name: 'Your key is ready' }).waitFor()
    await kim.getByRole('tab', { name: 'Codex' }).click()
    await kim.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click()
    const copied: string = await kim.evaluate('navigator.clipboard.readText()')
    const [key] = /shop_\w+/.exec(copied) ?? []
    t.match(copied, `url = "${demo.mcp_url}"`)
    const listed = await call('POST', demo.mcp_url, {
      headers: { 'x-api-key': key!, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    })
    t.strictSame(listed.body.result.tools.map(({ name }: { name: string }) => name), ['list_products'])
    await kim.getByRole('button', { name: 'Done' }).click()
    await kim.getByRole('button', { name: 'Actions for Price watcher' }).click()
    await kim.getByRole('menuitem', { name: 'Revoke' }).click()
    await kim.getByRole('button', { name: 'Revoke' }).click()
    await kim.getByText('“Price watcher” is revoked').waitFor()
    t.equal(
      (await call('GET', `${baseUrl}/shops/${kettle.id}/products`, { headers: { 'x-api-key': key! } })).status,
      401
    )
  })

  await t.test('what an agent changes is seen in the activity, field by field, and a change is undone', async (t) => {
    const agent = async (tool: string, args: object) =>
      (await call('POST', demo.mcp_url, {
        headers: { 'x-api-key': kettle.api_key, accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }
      })).body.result
    const path = `${baseUrl}/shops/${kettle.id}/products?filter=${encodeURIComponent('{"q":"Braiser"}')}&sort=name`
    const prices = async () =>
      (await call('GET', path, { headers: { 'x-api-key': kettle.api_key } })).body.map((
        { price_amount: amount }: { price_amount: number }
      ) => amount)
    const before = await prices()
    const { body: products } = await call('GET', path, { headers: { 'x-api-key': kettle.api_key } })
    for (const { id, price_amount: amount } of products) {
      t.notOk((await agent('update_product', { product_id: id, price_amount: amount + 500 })).isError)
    }

    await kim.goto(`${shop}/history?filter={}`)
    const newest = kim.getByRole('listitem').filter({ hasText: products.at(-1).name }).first()
    await newest.getByText('update_product').waitFor()
    await newest.getByRole('button', { name: /^Details/ }).click()
    await newest.getByRole('cell', { name: '$174.00' }).waitFor()
    t.strictSame(await violations(kim), [])
    await newest.getByRole('button', { name: /^Undo/ }).click()
    await kim.getByText('1 change will be undone.').waitFor()
    await kim.getByRole('button', { name: 'Undo now' }).click()
    await kim.getByText('1 change undone').waitFor()
    t.strictSame((await prices()).at(-1), before.at(-1))
  })

  await t.test('staff can neither see nor do what only owners may, and nobody a shop of others', async (t) => {
    const noor = await signIn(browser, baseUrl, person('noor'), '/console/shops/paper-lantern/api-keys')
    await noor.getByText('Only owners create, rotate and revoke keys.').waitFor()
    t.equal(await noor.getByRole('button', { name: 'New key' }).count(), 0)
    await noor.goto(shop)
    await noor.getByText('There is no such shop, or you are no member of it.').waitFor()
    await noor.goto(`${baseUrl}/console/admin`)
    await noor.waitForURL(/\/console\/shops\//)
    t.strictSame(faultsOf.get(noor), [])
    await noor.context().close()
  })

  await t.test('a file of products is checked, imported and undone', async (t) => {
    const file = (...lines: readonly string[]) => ({
      name: 'teas.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(lines.join('\n'))
    })
    await kim.goto(`${shop}/imports`)
    const input = kim.getByLabel('Choose a file')
    await input.setInputFiles(file('name,sku,price_amount', '<b>Tea strainer</b>,TS-1,900', 'Tea cosy,TC-1,"19,00"'))
    await kim.getByText('2 products in the file: 1 new').waitFor()
    await kim.getByRole('row', { name: '3 price_amount must be' }).waitFor()
    const start = kim.getByRole('button', { name: 'Import', exact: true })
    t.ok(await start.isDisabled(), 'not with a wrong line')
    const leaveOut = kim.getByRole('switch', { name: 'Leave out the wrong line' })
    t.equal(await leaveOut.isChecked(), false)
    await leaveOut.check()
    t.ok(await start.isEnabled())
    await input.setInputFiles(
      file('name,sku,price_amount', 'Tea tin,TT-1,500', '<b>Tea strainer</b>,TS-1,900', 'Tea cosy,TC-1,"19,00"')
    )
    await kim.getByText('3 products in the file: 2 new').waitFor()
    t.strictSame(
      [await leaveOut.isChecked(), await start.isDisabled()],
      [false, true],
      'what was agreed to of one file says nothing of another'
    )
    await input.setInputFiles(file('name,sku,price_amount', '<b>Tea strainer</b>,TS-1,900', 'Tea cosy,TC-1,1900'))
    await kim.getByText('2 products in the file: 2 new').waitFor()
    await start.click()
    await kim.getByRole('heading', { level: 1, name: 'teas.csv' }).waitFor()
    await kim.getByText('Created (2)').waitFor()
    const found = async () =>
      (await call(
        'GET',
        `${baseUrl}/shops/${kettle.id}/products?filter=${encodeURIComponent('{"sku":["TS-1","TC-1"]}')}&sort=sku`,
        { headers: { 'x-api-key': kettle.api_key } }
      )).body
    t.match(await found(), [{ name: 'Tea cosy' }, { name: '<b>Tea strainer</b>' }])
    await kim.getByRole('button', { name: 'Undo', exact: true }).click()
    await kim.getByText('Tea cosy is deleted').waitFor()
    await kim.getByRole('button', { name: 'Undo now' }).click()
    await kim.getByRole('dialog').waitFor({ state: 'hidden' })
    t.strictSame(await found(), [])
  })

  await t.test('who signs out is out, and has to give a password to come back', async () => {
    await kim.getByRole('button', { name: 'Kim Kettle' }).click()
    await kim.getByRole('menuitem', { name: 'Sign out' }).click()
    await kim.getByRole('heading', { name: 'You are signed out' }).waitFor()
    await kim.getByRole('button', { name: 'Sign in' }).click()
    await kim.waitForSelector('#password')
  })

  t.strictSame(faultsOf.get(kim), [], 'no script failed, and the policy had nothing to block')
})
