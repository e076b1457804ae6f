import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, violations } from './browser.ts'
import { openDemo } from './demo.ts'
import { viewHost } from './view-host.ts'

t.test('the views of tools in a host', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, headersOf } = await openDemo(t, { MCP_VIEWS_ENABLED: 'true', MCP_IMPORTS_ENABLED: 'true' })
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const headers = { 'x-api-key': kettle.api_key }
  const browser = await openBrowser(t)
  const open = await viewHost(t, browser)
  const shown = { mcpUrl: demo.mcp_url, key: kettle.api_key }

  await t.test('products have pictures and prices, and a person filters them by keyboard', async (t) => {
    const { page, view, calls } = await open({
      ...shown,
      tool: 'list_products',
      args: { filter: { q: 'kettle' }, fields: ['name'] }
    })
    await view.getByText(/^\d+ of \d+ products$/).waitFor()
    t.strictSame(
      calls.map(({ name }) => name),
      ['list_products'],
      'the model read names only: the view reads what it shows'
    )
    const first = view.getByRole('listitem').first()
    t.match(await first.innerText(), /\$\d+\.\d\d/)
    t.ok(await comesTrue(view, "document.querySelector('img.picture')?.naturalWidth > 0"), 'a picture is there')

    await page.keyboard.press('Tab')
    const focused = async () => await view.evaluate('document.activeElement.name')
    t.equal(await focused(), 'q')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('teapot')
    await page.keyboard.press('Enter')
    await view.getByRole('listitem').filter({ hasText: /teapot/i }).first().waitFor()
    t.ok(
      await comesTrue(
        view,
        "[...document.querySelectorAll('li')].every((item) => !/gooseneck/i.test(item.textContent))"
      )
    )
    for (const name of ['status', 'from']) {
      await page.keyboard.press('Tab')
      t.equal(await focused(), name)
    }
    await page.keyboard.type('nothing')
    await page.keyboard.press('Enter')
    await view.getByRole('alert').getByText('A price is a number such as 12.50').waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('30')
    await page.keyboard.press('Tab')
    t.ok(await comesTrue(view, "document.querySelector('[role=alert]').hidden"))
    t.match(calls.at(-1), { name: 'list_products', arguments: { filter: { q: 'teapot', price_amount_gte: 3000 } } })
    t.strictSame(faultsOf.get(page), [])
    t.strictSame(await violations(view), [])
  })

  await t.test('prices are typed in the currency that the view names, and only those in it match', async (t) => {
    for (
      const [name, currency, price] of [['cheap', 'JPY', 1500], ['dear', 'JPY', 9000], ['of dollars', 'USD', 9000]]
    ) {
      const body = { name: `Yen lamp ${name}`, currency, price_amount: price, status: 'active' }
      t.equal((await call('POST', `${baseUrl}/shops/${kettle.id}/products`, { headers, body })).status, 201)
    }
    const args = { filter: { q: 'Yen lamp', currency: ['JPY'] }, sort: 'name' }
    const { page, view, calls } = await open({ ...shown, tool: 'list_products', args })
    const from = view.getByLabel('Price from (JPY)')
    await from.fill('2000')
    await from.press('Enter')
    await view.getByText('1 of 1 products').waitFor()
    const filter = { q: 'Yen lamp', currency: ['JPY'], price_amount_gte: 2000 }
    t.match(calls.at(-1), { arguments: { filter } })
    t.match(await view.getByRole('listitem').innerText(), 'Yen lamp dear')
    await from.fill('20.5')
    await from.press('Enter')
    await view.getByText('A price is a number such as 1250').waitFor()

    // Nothing was found, so that no product says a currency: the filter does.
    const lost = { q: 'no such lamp', price_amount_gte: 2000 }
    const none = await open({ ...shown, tool: 'list_products', args: { filter: { ...lost, currency: 'JPY' } } })
    await none.view.getByText('No product matches.').waitFor()
    t.equal(await none.view.getByLabel('Price from (JPY)').inputValue(), '2000')
    const unknown = await open({ ...shown, tool: 'list_products', args: { filter: lost } })
    await unknown.view.getByText('No product matches.').waitFor()
    t.equal(await unknown.view.getByLabel('Price from').isDisabled(), true)
    await unknown.view.getByLabel('Search').fill('Yen lamp')
    await unknown.view.getByLabel('Search').press('Enter')
    await unknown.view.getByText('2 of 2 products').waitFor()
    const kept = { q: 'Yen lamp', price_amount_gte: 2000 }
    t.match(unknown.calls.at(-1), { arguments: { filter: kept } }, 'what the model asked for stays')
    t.strictSame(faultsOf.get(page), [])
  })

  await t.test('it follows the theme, the colours and the width of its host', async (t) => {
    const { page, view } = await open({
      ...shown,
      tool: 'list_products',
      args: { limit: 4 },
      theme: 'dark',
      width: 320,
      variables: { '--color-text-primary': 'rgb(1, 2, 3)' }
    })
    await view.getByRole('listitem').first().waitFor()
    const scheme = async () => await view.evaluate('getComputedStyle(document.documentElement).colorScheme')
    t.equal(await scheme(), 'dark')
    t.equal(await view.evaluate('getComputedStyle(document.body).color'), 'rgb(1, 2, 3)')
    t.equal(await view.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, 'nothing stands outside')
    t.ok(await comesTrue(page, "document.querySelector('iframe').clientHeight > 301"), 'and says how high it is')
    await page.evaluate("follow('light')")
    t.ok(await comesTrue(view, "getComputedStyle(document.documentElement).colorScheme === 'light'"))
    const dark = await open({ ...shown, tool: 'list_products', args: { limit: 4 }, theme: 'dark', width: 320 })
    await dark.view.getByRole('listitem').first().waitFor()
    t.strictSame(await violations(dark.view), [])
  })

  await t.test('markup from a catalog does not run, and nothing outside is reached', async (t) => {
    const name = '<img src=x onerror="window.ran = 1"><script>window.ran = 1</script>'
    const made = await call('POST', `${baseUrl}/shops/${kettle.id}/products`, {
      headers,
      body: {
        name,
        sku: '</script><b>',
        status: 'active',
        price_amount: 100,
        image_urls: ['https://evil.example/x.png']
      }
    })
    t.equal(made.status, 201)
    const { page, view, left } = await open({
      ...shown,
      tool: 'list_products',
      args: { filter: { sku: '</script><b>' } }
    })
    const item = view.getByRole('listitem')
    t.match(await item.innerText(), name)
    await view.locator('div.picture').waitFor()
    t.strictSame(
      await view.evaluate("[typeof ran, document.querySelectorAll('main script, main b, main img').length]"),
      ['undefined', 0]
    )
    t.strictSame(left, [])
    t.match(faultsOf.get(page), [/evil\.example/], 'the policy of the view refused the picture')
    // What a view cannot do even if something in it runs.
    const outside = await view.evaluate(`(async () => [
      await fetch('${baseUrl}/healthz').then(() => 'fetched', () => 'refused'),
      (() => { try { return parent.document.title } catch { return 'refused' } })(),
      (() => { try { return localStorage.length } catch { return 'refused' } })()
    ])()`)
    t.strictSame(outside, ['refused', 'refused', 'refused'])
  })

  await t.test('a person sees what a file would change, confirms it, and sees how far it is', async (t) => {
    const { body: [one, two] } = await call(
      'GET',
      `${baseUrl}/shops/${kettle.id}/products?limit=2&sort=name&filter={"q":"teapot"}`,
      { headers }
    )
    const now = async (id: string): Promise<number> =>
      (await call('GET', `${baseUrl}/shops/${kettle.id}/products/${id}`, { headers })).body.price_amount
    const content = `sku,price_amount,name\n${one.sku},4321,<b>One</b>\n${two.sku},8765,Two\nWRONG,x,Wrong`
    const { page, view, calls } = await open({
      ...shown,
      tool: 'import_products',
      args: { format: 'csv', content, dry_run: true, skip_invalid: true }
    })
    await view.getByRole('heading', { name: 'Before the import' }).waitFor()
    const row = view.getByRole('row').filter({ hasText: one.name })
    t.match(await row.innerText(), new RegExp(`${one.price_amount / 100}.*43\\.21`))
    t.match(await view.getByRole('region', { name: 'Wrong lines' }).innerText(), /4\s+price_amount/)
    t.strictSame([await now(one.id), calls.length], [one.price_amount, 0], 'nothing has happened yet')
    t.strictSame(await violations(view), [])

    const before = await open({ ...shown, tool: 'import_products', args: { format: 'csv', content, dry_run: true } })
    await before.view.getByRole('heading', { name: 'Before the import' }).waitFor()
    t.equal(await before.view.getByRole('button').count(), 0, 'a file that would be refused cannot be imported')

    await page.bringToFront()
    await page.keyboard.press('Tab')
    t.equal(await view.evaluate('document.activeElement.textContent'), 'Import 2 products')
    await page.keyboard.press('Enter')
    await view.getByRole('heading', { name: 'The import is done' }).waitFor()
    t.match(await view.getByRole('status').innerText(), /2 changed/)
    t.match(await view.getByRole('region', { name: 'Wrong lines' }).innerText(), /4\s+price_amount/)
    t.strictSame([await now(one.id), await now(two.id), await view.locator('main b').count()], [4321, 8765, 0])
    t.strictSame(calls[0], { name: 'import_products', arguments: { format: 'csv', content, skip_invalid: true } })
    t.strictSame([faultsOf.get(page), await violations(view)], [[], []])
  })

  await t.test('an import can be stopped where it is watched', async (t) => {
    const content = `name,sku\n${Array.from({ length: 10_000 }, (_, n) => `Many ${n},MANY-${n}`).join('\n')}`
    const { view, calls } = await open({ ...shown, tool: 'import_products', args: { format: 'csv', content } })
    await view.getByRole('heading', { name: 'Importing…' }).waitFor()
    await view.getByRole('button', { name: 'Stop' }).press('Enter')
    await view.getByRole('heading', { name: 'The import was stopped' }).waitFor()
    t.ok(calls.some(({ name }) => name === 'cancel_import'))
    const { import_id: id } = calls.find(({ name }) => name === 'get_import')!.arguments
    const watched = await open({ ...shown, tool: 'get_import', args: { import_id: id } })
    await watched.view.getByRole('heading', { name: 'The import was stopped' }).waitFor()
    t.strictSame([watched.calls.length, await watched.view.getByRole('button').count()], [0, 0])
  })

  await t.test('a view calls what its caller may, and nothing else', async (t) => {
    const { body: [{ id, ...product }] } = await call('GET', `${baseUrl}/shops/${kettle.id}/products?limit=1`, {
      headers
    })
    const asKim = await headersOf('kim')
    const { body: reader } = await call('POST', `${baseUrl}/shops/${kettle.id}/api-keys`, {
      headers: asKim,
      body: { name: 'Reader', scopes: ['read'] }
    })
    const { view } = await open({ ...shown, key: reader.plaintext, tool: 'list_products', args: { limit: 2 } })
    await view.getByRole('listitem').first().waitFor()
    const ask = async (name: string, args: object) =>
      await view.evaluate(`new Promise((resolve) => {
      addEventListener('message', ({ data }) => { if (data.id === 777) resolve(data.result ?? data.error) })
      parent.postMessage({ jsonrpc: '2.0', id: 777, method: 'tools/call', params: ${
        JSON.stringify({ name, arguments: args })
      } }, '*')
    })`)
    t.match(await ask('update_product', { product_id: id, price_amount: 1 }), {
      isError: true,
      content: [{ text: /scope/ }]
    })
    t.match(await ask('create_key', {}), { message: /Unknown tool/ })
    const other = demo.shops.find(({ slug }) => slug !== 'copper-kettle')!
    t.match(await ask('list_products', { shop_id: other.id }), { isError: true })
    t.match((await call('GET', `${baseUrl}/shops/${kettle.id}/products/${id}`, { headers })).body, {
      price_amount: product.price_amount
    })
  })
})
