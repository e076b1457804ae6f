import t from 'tap'
import type { Page } from 'playwright-core'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { answer, comesTrue, faultsOf, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

/** What people do and programs do not: type slowly, choose twice, go back, work in two shops. */
t.test('the console in slow hands', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person, headersOf } = await openDemo(t)
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'), '/console/shops/copper-kettle/products')

  /** The page around the menu is not built again: its `nav` is the same element as before. */
  const mark = async (page: Page) => await page.evaluate("document.querySelector('nav').dataset.marked = 'yes'")
  const isSame = async (page: Page) => await page.evaluate("document.querySelector('nav').dataset.marked === 'yes'")

  await t.test('a search keeps every letter, however slowly it is typed', async (t) => {
    await mark(kim)
    const search = kim.getByPlaceholder('Search by name')
    await search.pressSequentially('kettle', { delay: 700 })
    await kim.waitForURL(/kettle/)
    t.equal(await search.inputValue(), 'kettle')
    t.equal(await kim.evaluate('document.activeElement.name'), 'q', 'and the focus')
    await kim.getByRole('row', { name: /Gooseneck Kettle, Copper/ }).waitFor()
    t.ok(await isSame(kim))
    await search.fill('')
    await kim.getByRole('button', { name: /Go to next page/ }).waitFor()
  })

  await t.test('several choices of a filter are made without opening it again', async (t) => {
    await kim.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Status', exact: true }).click()
    await kim.getByRole('menuitemcheckbox', { name: 'Draft' }).click()
    await kim.getByRole('menuitemcheckbox', { name: 'Draft', checked: true }).waitFor()
    await kim.getByRole('menuitemcheckbox', { name: 'Archived' }).click()
    await kim.getByRole('menuitemcheckbox', { checked: true }).nth(1).waitFor()
    t.match(kim.url(), /draft.*archived/)
    await kim.keyboard.press('Escape')
    await kim.getByRole('button', { name: 'Clear all' }).click()
    await kim.waitForURL((url) => !url.href.includes('draft'))
    t.ok(await isSame(kim))
  })

  await t.test('sorting, paging, a dialog, the menu and Back rebuild nothing', async (t) => {
    await kim.getByRole('button', { name: 'SKU', exact: true }).click()
    await kim.waitForURL(/sort=sku/)
    await kim.getByRole('button', { name: /Go to next page/ }).click()
    await kim.waitForURL(/page=2/)
    await kim.getByRole('button', { name: 'Columns' }).click()
    await kim.keyboard.press('Escape')
    await kim.getByRole('link', { name: 'Tags', exact: true }).click()
    await kim.getByRole('heading', { level: 1, name: 'Tags' }).waitFor()
    await kim.goBack()
    await kim.getByRole('heading', { level: 1, name: 'Products' }).waitFor()
    t.ok(await isSame(kim))
  })

  await t.test('what was typed into a form is not lost by going back', async (t) => {
    await goWithin(kim, '/console/shops/copper-kettle/products/create')
    await kim.getByLabel(/^Name/).fill('A kettle that is nearly described')
    await kim.evaluate('history.back()')
    await answer(kim, 'Keep editing')
    t.equal(await kim.getByLabel(/^Name/).inputValue(), 'A kettle that is nearly described')
  })

  await t.test('a price keeps its digits in another currency, or is refused', async (t) => {
    const { api_key: key, id: shopId } = demo.shops[0]!
    const { body: { id } } = await call('POST', `${baseUrl}/shops/${shopId}/products`, {
      headers: { 'x-api-key': key },
      body: { name: 'Imported tin', currency: 'JPY', price_amount: 1999 }
    })
    const stored = async () => {
      const { body: { price_amount: amount, currency } } = await call(
        'GET',
        `${baseUrl}/shops/${shopId}/products/${id}`,
        { headers: { 'x-api-key': key } }
      )
      return [amount, currency]
    }
    await goWithin(kim, `/console/shops/copper-kettle/products/${id}`, true)
    const [price, currency] = [
      kim.getByRole('textbox', { name: 'Price', exact: true }),
      kim.getByRole('combobox', { name: 'Currency' })
    ]
    t.equal(await price.inputValue(), '1999')
    t.notMatch(
      await kim.getByRole('region', { name: 'Price and stock keeping' }).innerText(),
      'USD',
      'nothing names the currency of the shop'
    )
    await currency.fill('')
    await currency.pressSequentially('usd', { delay: 50 })
    t.equal(await price.inputValue(), '1999.00')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Product saved').waitFor()
    t.strictSame(await stored(), [199900, 'USD'])
    await price.fill('19.99')
    await currency.fill('JPY')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Price must be a number in JPY, such as 1999').waitFor()
    t.strictSame(await stored(), [199900, 'USD'], 'nothing was saved')
    await currency.fill('USD')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Product saved').waitFor()
    t.strictSame(await stored(), [1999, 'USD'])
    await goWithin(
      kim,
      `/console/shops/copper-kettle/history?filter=${encodeURIComponent(JSON.stringify({ record_id: id }))}`
    )
    await kim.getByRole('button', { name: /^Details/ }).last().click()
    await kim.getByRole('cell', { name: '¥1,999' }).waitFor()
  })

  const configure = async (slug: string, changes: object) => {
    const { status } = await call('PATCH', `${baseUrl}/shops/${shopOf(slug).id}/config`, {
      headers: await headersOf('ada'),
      body: changes
    })
    t.equal(status, 200)
  }
  const shopOf = (slug: string) => demo.shops.find((shop) => shop.slug === slug)!
  const at = (slug: string) => ({
    root: `${baseUrl}/shops/${shopOf(slug).id}`,
    headers: { 'x-api-key': shopOf(slug).api_key }
  })

  await t.test('a price is typed as its shop shows it', async (t) => {
    const { root, headers } = at('paper-lantern')
    const noor = await signIn(browser, baseUrl, person('noor'), '/console/shops/paper-lantern/products')
    for (
      const [locale, currency, zone, typed, amount] of [
        ['ja-JP', 'JPY', 'Asia/Tokyo', '1,999', 1999],
        ['ar-KW', 'KWD', 'Asia/Kuwait', '١٫٢٣٤', 1234],
        ['ar-EG', 'EGP', 'Africa/Cairo', '١٬٩٩٩٫٥٠', 199950],
        ['ar-EG', 'EGP', 'Africa/Cairo', '12.50', 1250],
        ['de-CH', 'CHF', 'Europe/Zurich', '1’999.50', 199950]
      ] as const
    ) {
      await configure('paper-lantern', { locale, currency, time_zone: zone })
      const { body: { id } } = await call('POST', `${root}/products`, {
        headers,
        body: { name: `In ${locale}: ${typed}`, price_amount: 1 }
      })
      await noor.goto(`${baseUrl}/console/shops/paper-lantern/products/${id}`)
      const price = noor.getByRole('textbox', { name: 'Price', exact: true })
      await price.fill('')
      await price.pressSequentially(typed, { delay: 40 })
      await noor.getByRole('button', { name: 'Save' }).click()
      await noor.getByText('Product saved').waitFor()
      const { body: product } = await call('GET', `${root}/products/${id}`, { headers })
      t.match(product, { price_amount: amount, currency }, `${typed} in ${locale}`)
    }
    const { body: { id: weight } } = await call('POST', `${root}/attributes`, {
      headers,
      body: { name: 'Net weight', type: 'number' }
    })
    const { body: { id } } = await call('POST', `${root}/products`, {
      headers,
      body: { name: 'Weighed', attributes: [{ attribute_id: weight, value: 5 }] }
    })
    await noor.goto(`${baseUrl}/console/shops/paper-lantern/products/${id}`)
    const number = noor.getByLabel('Net weight', { exact: true })
    await number.fill('1.000')
    t.equal(await number.inputValue(), '1.000')
    await number.blur()
    t.equal(await number.inputValue(), '1', 'what would be saved is seen, once the number is typed')
    t.strictSame(faultsOf.get(noor), [])
    await noor.context().close()
    await configure('paper-lantern', { locale: 'en-GB', currency: 'GBP', time_zone: 'Europe/London' })
  })

  await t.test('what nobody touched of a price stays: its seconds, and which of two hours in autumn', async (t) => {
    const [{ root }, headers] = [at('north-trail'), await headersOf('noor')]
    const { body: { id } } = await call('POST', `${root}/products`, {
      headers,
      body: { name: 'Lantern of two hours', price_amount: 1000 }
    })
    const times = { valid_from: '2026-10-25T01:30:15.250Z', valid_to: '2026-12-24T22:59:59.999Z' }
    const { body: price } = await call('POST', `${root}/prices`, {
      headers,
      body: { product_id: id, amount: 900, ...times }
    })
    const noor = await signIn(browser, baseUrl, person('noor'), `/console/shops/north-trail/products/${id}`)
    await noor.getByRole('button', { name: 'Change the price' }).first().waitFor()
    t.equal(await noor.getByRole('button', { name: 'Change the price' }).count(), 1, 'it shows its own prices only')
    await noor.getByRole('button', { name: 'Change the price' }).click()
    const dialog = noor.getByRole('dialog')
    const amount = dialog.getByLabel(/^Price/)
    await amount.fill('')
    await amount.pressSequentially('abc', { delay: 40 })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Price must be a number in EUR, such as 19,99').waitFor()
    t.equal(await noor.evaluate('document.activeElement.name'), 'amount', 'the wrong field has the focus')
    await amount.fill('')
    await amount.pressSequentially('12.50', { delay: 40 })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.match((await call('GET', `${root}/prices/${price.id}`, { headers })).body, { amount: 1250, ...times })
    // As a number alone, 1.000 would be one: the price of a thousand, for each.
    for (const [typed, said] of [['2,5', 'From quantity must be a whole number, not "2,5"'], ['1.000']] as const) {
      if (said === undefined) await dialog.getByLabel('From quantity').fill('')
      else await noor.getByRole('button', { name: 'Change the price' }).click()
      await dialog.getByLabel('From quantity').fill(typed)
      await dialog.getByRole('button', { name: 'Save' }).click()
      if (said !== undefined) await dialog.getByText(said).waitFor()
    }
    await dialog.waitFor({ state: 'detached' })
    t.match((await call('GET', `${root}/prices/${price.id}`, { headers })).body, {
      amount: 1250,
      min_quantity: 1000,
      ...times
    })
    // A time that is half emptied is not an empty one.
    await noor.getByRole('button', { name: 'Change the price' }).click()
    await dialog.getByLabel('Ends').focus()
    await noor.keyboard.press('Backspace')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('This is not complete').waitFor()
    t.match((await call('GET', `${root}/prices/${price.id}`, { headers })).body, times)
    await noor.context().close()
  })

  await t.test('a filter and the order of prices say their currency', async (t) => {
    const { root, headers } = at('north-trail')
    await call('POST', `${root}/products`, { headers, body: { name: 'Yen lantern', currency: 'JPY', price_amount: 5 } })
    await call('POST', `${root}/products`, { headers, body: { name: 'Euro lantern', price_amount: 6 } })
    const noor = await signIn(browser, baseUrl, person('noor'), '/console/shops/north-trail/products')
    await noor.getByRole('columnheader').getByRole('button', { name: 'Price' }).click()
    await noor.getByText('These prices are in several currencies').waitFor()
    await noor.getByRole('button', { name: 'Only JPY' }).click()
    await noor.getByRole('button', { name: 'Price: JPY' }).waitFor()
    await noor.getByRole('rowheader', { name: 'Euro lantern' }).waitFor({ state: 'detached' })
    await noor.getByRole('button', { name: 'Price: JPY' }).click()
    await noor.getByLabel('From (JPY)').pressSequentially('6', { delay: 40 })
    await noor.getByRole('button', { name: 'Apply' }).click()
    await noor.getByText('Nothing matches these filters').waitFor()
    await noor.getByRole('button', { name: 'Clear filters' }).click()
    await noor.getByRole('row').nth(5).waitFor()
    t.strictSame(faultsOf.get(noor), [])
    await noor.context().close()
  })

  await t.test('the start page makes one small request for each of its parts', async (t) => {
    // From a page that does not ask again by itself, as the activity does.
    await goWithin(kim, '/console/shops/copper-kettle/tags')
    await kim.getByRole('row').nth(1).waitFor()
    // By their URL: what is on the page is asked for again from time to time.
    const answers = new Map<string, Promise<readonly [path: string, bytes: number]>>()
    kim.on('request', (request) => {
      const [, part] = /^\/shops\/[^/]+\/(.+)/.exec(new URL(request.url()).pathname) ?? []
      if (part !== undefined) {
        answers.set(
          request.url(),
          request.response().then(async (response) =>
            [part, response?.status() === 304 ? 0 : (await response?.body())?.length ?? 0] as const
          )
        )
      }
    })
    const arrived = ['history', 'summary', 'tool-calls'].map(async (part) =>
      await kim.waitForResponse((response) => new URL(response.url()).pathname.endsWith(`/${part}`))
    )
    await goWithin(kim, '/console/shops/copper-kettle')
    await Promise.all(arrived)
    // Long enough for a request too many.
    await kim.waitForTimeout(1500)
    kim.removeAllListeners('request')
    const parts = await Promise.all(answers.values())
    t.strictSame(parts.map(([part]) => part).sort(), ['history', 'summary', 'tool-calls'])
    const bytes = parts.reduce((sum, [, bytes]) => sum + bytes, 0)
    t.ok(bytes < 30_000, `${bytes} bytes`)
  })

  await t.test('differences have names and prices in their own currency; later ones keep only theirs', async (t) => {
    const { root, headers } = at('copper-kettle')
    const made = async (path: string, body: object) => (await call('POST', `${root}/${path}`, { headers, body })).body
    const tag = await made('tags', { name: 'Named in words' })
    const [one, two] = [
      await made('products', { name: 'First of two', currency: 'JPY', price_amount: 2100 }),
      await made('products', { name: 'Second of two', currency: 'JPY', price_amount: 2100 })
    ]
    const { body: key } = await call('POST', `${root}/api-keys/`, {
      headers: await headersOf('kim'),
      body: { name: 'Yen watcher' }
    })
    const change = async (id: string, body: object) =>
      await call('PATCH', `${root}/products/${id}`, { headers: { 'x-api-key': key.plaintext }, body })
    await change(one.id, { price_amount: 1999, tag_ids: [tag.id] })
    await change(two.id, { price_amount: 1999 })
    await goWithin(kim, `/console/shops/copper-kettle/products/${two.id}`)
    const price = kim.getByRole('textbox', { name: 'Price', exact: true })
    await price.fill('')
    await price.pressSequentially('1500', { delay: 40 })
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Product saved').waitFor()
    await goWithin(
      kim,
      `/console/shops/copper-kettle/history?filter=${encodeURIComponent(JSON.stringify({ record_id: one.id }))}`
    )
    await kim.getByRole('button', { name: /^Details/ }).first().click()
    await kim.getByRole('cell', { name: 'Named in words' }).waitFor()
    await kim.getByRole('cell', { name: '¥1,999' }).waitFor()
    await goWithin(
      kim,
      `/console/shops/copper-kettle/history?filter=${encodeURIComponent(JSON.stringify({ actor_id: key.id }))}`
    )
    await kim.getByRole('button', { name: /^Undo all changes of the key .+ since…$/ }).click()
    const dialog = kim.getByRole('dialog')
    let answer = () => {}
    const isAsked = new Promise<void>((resolve) => {
      kim.route('**/history/revert', async (route) => {
        resolve()
        await new Promise<void>((resolve) => {
          answer = resolve
        })
        await route.continue()
      }, { times: 1 }).catch(() => {})
    })
    const isAnswered = kim.waitForResponse('**/history/revert')
    // From its first change on, once that is read.
    await dialog.getByRole('button', { name: 'Check' }).click()
    await isAsked
    const since = dialog.locator('input[name=since]')
    const first = await since.inputValue()
    await since.fill('2020-01-01T00:00')
    answer()
    await (await isAnswered).finished()
    await dialog.getByRole('button', { name: 'Check' }).and(kim.locator(':enabled')).waitFor()
    t.equal(await dialog.getByText('1 change stays as it is').count(), 0, 'a late check of another time is not shown')
    t.equal(await dialog.getByRole('button', { name: 'Undo now' }).isDisabled(), true)
    await since.fill(first)
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.getByText('1 change stays as it is').waitFor()
    await dialog.getByText('Second of two: Price was changed again').waitFor()
    await dialog.getByText(/First of two is set back .*Tags: Named in words → —.*Price: ¥1,999 → ¥2,100/).waitFor()
    await dialog.getByRole('button', { name: 'Undo now' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.match((await call('GET', `${root}/products/${two.id}`, { headers })).body, { price_amount: 1500 })
    t.match((await call('GET', `${root}/products/${one.id}`, { headers })).body, { price_amount: 2100, tag_ids: [] })
  })

  await t.test('a filter that a link sets has a chip, and is gone when somebody comes back', async (t) => {
    const { root, headers } = at('copper-kettle')
    const { body: tag } = await call('POST', `${root}/tags`, { headers, body: { name: 'A tag of an agent' } })
    await goWithin(
      kim,
      `/console/shops/copper-kettle/history?filter=${
        encodeURIComponent(JSON.stringify({ operation: 'create_tag', record_id: tag.id }))
      }`
    )
    await kim.getByRole('button', { name: 'operation: create_tag' }).waitFor()
    await kim.getByRole('button', { name: 'One record: A tag of an agent' }).waitFor()
    t.equal(await kim.getByRole('button', { name: /^Details/ }).count(), 1)
    await kim.getByRole('link', { name: 'Tags', exact: true }).click()
    await kim.getByRole('heading', { level: 1, name: 'Tags' }).waitFor()
    await kim.getByLabel('Search tags').pressSequentially('no such tag', { delay: 40 })
    await kim.getByText('Nothing matches these filters').waitFor()
    await kim.getByRole('button', { name: 'Clear filters' }).click()
    await kim.getByRole('rowheader', { name: 'A tag of an agent' }).waitFor()
    await kim.getByRole('link', { name: 'Activity', exact: true }).click()
    await kim.getByRole('link', { name: 'Each change' }).click()
    await kim.getByRole('button', { name: /^Details/ }).nth(2).waitFor()
    t.equal(await kim.getByRole('button', { name: 'Clear all' }).count(), 0)
  })

  await t.test('what an agent changes in an open form is not lost', async (t) => {
    const { api_key: key, id: shopId } = demo.shops[0]!
    const products = `${baseUrl}/shops/${shopId}/products`
    const agent = async (method: 'POST' | 'PATCH' | 'GET', path: string, body?: object) =>
      (await call(method, products + path, { headers: { 'x-api-key': key }, ...body && { body } })).body
    const [one, other] = (await call('GET', `${baseUrl}/shops/${shopId}/tags`, { headers: { 'x-api-key': key } })).body
      .map(({ id }: { id: string }) => id)
    const { id: material } = (await call('POST', `${baseUrl}/shops/${shopId}/attributes`, {
      headers: { 'x-api-key': key },
      body: { name: 'Material of the lid', type: 'text' }
    })).body
    const lidOf = (value: string) => ({ attributes: [{ attribute_id: material, value }] })
    const { id } = await agent('POST', '', {
      name: 'Shared kettle',
      description: 'Old words',
      tag_ids: [one],
      ...lidOf('Tin')
    })
    await goWithin(kim, `/console/shops/copper-kettle/products/${id}`)
    const save = kim.getByRole('button', { name: 'Save', exact: true })
    await kim.getByLabel('Description').fill('Words of Kim')
    await agent('PATCH', `/${id}`, { tag_ids: [one, other], sku: 'AGENT-1' })
    await save.click()
    await kim.getByText('Product saved').waitFor()
    t.match(
      await agent('GET', `/${id}`),
      { description: 'Words of Kim', sku: 'AGENT-1', tag_ids: { length: 2 } },
      'both changes are kept'
    )

    await kim.getByLabel('Description').fill('More words of Kim')
    await kim.getByLabel('SKU').fill('KIM-1')
    await kim.getByLabel('Material of the lid', { exact: true }).fill('Copper')
    await agent('PATCH', `/${id}`, { description: 'Words of an agent', sku: 'AGENT-2', ...lidOf('Brass') })
    await save.click()
    const dialog = kim.getByRole('dialog', { name: 'Changed since you opened it' })
    await dialog.getByText(/^Changed by .*Demo/).first().waitFor()
    t.equal(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), true, 'each field needs an answer')
    await kim.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.equal(await kim.getByLabel('Description').inputValue(), 'More words of Kim', 'nothing typed is lost')
    t.match(await agent('GET', `/${id}`), { description: 'Words of an agent', sku: 'AGENT-2' })
    await save.click()
    await dialog.getByRole('group', { name: 'description' }).or(dialog.getByRole('radiogroup', { name: 'description' }))
      .getByText('Keep mine: More words of Kim').click()
    await dialog.getByText('Take theirs: AGENT-2').click()
    await dialog.getByRole('radiogroup', { name: 'Attributes' }).getByText('Take theirs: Material of the lid: Brass')
      .click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await kim.getByText('Product saved').waitFor()
    t.match(await agent('GET', `/${id}`), { description: 'More words of Kim', sku: 'AGENT-2' })
    t.equal(await kim.getByLabel('SKU').inputValue(), 'AGENT-2', 'the form shows what is stored')
  })

  await t.test('what an agent changed between the list and the form is asked about, not overwritten', async (t) => {
    const { root, headers } = at('copper-kettle')
    const api = async (method: string, path: string, body: object) =>
      (await call(method, `${root}/products${path}`, { headers, body })).body
    const { id } = await api('POST', '', { name: 'Lent kettle', sku: 'LENT-1' })
    await goWithin(
      kim,
      `/console/shops/copper-kettle/products?filter=${encodeURIComponent('{"q":"Lent kettle"}')}`,
      true
    )
    const link = kim.getByRole('link', { name: 'Lent kettle' })
    await link.waitFor()
    await api('PATCH', `/${id}`, { sku: 'AGENT-3', description: 'Words of an agent' })
    // The form shows what the list had, and reads the record again unless that was just now.
    await kim.waitForTimeout(2100)
    let letGo = () => {}
    const isLetGo = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const isRecord = (url: URL) => url.pathname.endsWith(`/products/${id}`)
    await kim.route((url) => isRecord(url), async (route) => {
      if (route.request().method() === 'GET') await isLetGo
      await route.continue()
    })
    await link.click()
    await kim.getByRole('heading', { level: 1, name: 'Lent kettle' }).waitFor()
    await kim.getByLabel('SKU').fill('KIM-3')
    letGo()
    await kim.getByText('Words of an agent').waitFor()
    t.equal(await kim.getByLabel('SKU').inputValue(), 'KIM-3')
    await kim.unrouteAll()
    await kim.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = kim.getByRole('dialog', { name: 'Changed since you opened it' })
    await dialog.getByText('Take theirs: AGENT-3').waitFor()
    await dialog.getByText('Keep mine: KIM-3').click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Product saved').waitFor()
    t.match(await api('PATCH', `/${id}`, {}), { sku: 'KIM-3', description: 'Words of an agent' })
    await kim.getByLabel('SKU').fill('KIM-4')
    await kim.getByRole('button', { name: 'Save', exact: true }).click()
    await kim.getByText('Product saved').first().waitFor()
    t.equal(await dialog.isVisible(), false, 'what was just saved is no change of others')
  })

  await t.test('what others have removed meanwhile is gone from the page, once it was refused', async (t) => {
    const { root } = at('copper-kettle')
    const headers = await headersOf('kim')
    const make = async (path: string, body: object) =>
      (await call('POST', `${root}/${path}`, { headers, body })).body.id as string
    for (
      const [page, list, id, opens, submits, shows] of [
        [
          'categories',
          'categories',
          await make('categories', { name: 'Removed soon' }),
          'Edit Removed soon',
          'Save',
          kim.getByRole('button', { name: 'Edit Removed soon' })
        ],
        [
          'api-keys/',
          'api-keys',
          await make('api-keys/', { name: 'Revoked soon' }),
          'Rotate',
          'Rotate',
          kim.getByText('Active', { exact: true })
        ]
      ] as const
    ) {
      await goWithin(kim, `/console/shops/copper-kettle/${list === 'api-keys' ? page + id : page}`)
      await shows.waitFor()
      await kim.getByRole('button', { name: opens }).click()
      t.equal((await call('DELETE', `${root}/${list}/${id}`, { headers })).status, 204)
      const dialog = kim.getByRole('dialog')
      if (list === 'categories') await dialog.getByLabel(/^Name/).fill('Never')
      await dialog.getByRole('button', { name: submits }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      if (list === 'categories') await kim.getByRole('button', { name: 'Discard' }).click()
      await shows.waitFor({ state: 'detached' })
    }
  })

  await t.test('pictures are seen in list and form; a broken or half typed one is an empty place', async (t) => {
    const { api_key: key, id: shopId } = demo.shops[0]!
    const requested: string[] = []
    await kim.route(/^https:/, async (route) => {
      const request = route.request()
      requested.push(
        [
          request.url(),
          ...Object.keys(request.headers()).filter((name) =>
            ['referer', 'origin', 'cookie', 'authorization'].includes(name)
          )
        ].join()
      )
      await (request.url().endsWith('.svg')
        ? route.fulfill({
          contentType: 'image/svg+xml',
          body: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
        })
        : route.abort())
    })
    await goWithin(
      kim,
      `/console/shops/copper-kettle/products?filter=${encodeURIComponent('{"q":"Pour-Over Dripper"}')}`
    )
    const row = kim.getByRole('row', { name: /Pour-Over Dripper, Sage/ })
    await row.waitFor()
    t.strictSame(
      await row.locator('img').evaluate(({ alt, loading, referrerPolicy }: any) => [alt, loading, referrerPolicy]),
      ['', 'lazy', 'no-referrer'],
      'the name stands beside it'
    )
    t.ok(
      await comesTrue(
        kim,
        '[...document.images].length === 4 && [...document.images].every(({ naturalWidth }) => naturalWidth === 192)'
      )
    )
    await row.getByRole('link').click()
    await kim.getByRole('img', { name: 'Pour-Over Dripper, Sage' }).waitFor()
    const [add, save] = [kim.getByLabel('Add a picture'), kim.getByRole('button', { name: 'Save', exact: true })]
    await add.pressSequentially('https://cdn.example/a.s', { delay: 20 })
    await kim.waitForTimeout(1000)
    await kim.keyboard.type('vg')
    await kim.getByLabel('Picture 2', { exact: true }).waitFor()
    await add.fill(' https://cdn.example/gone.png  http://cdn.example/b.svg ')
    await kim.getByLabel('Picture 4', { exact: true }).waitFor()
    await kim.keyboard.press('Tab')
    const shown = async (widths: string) =>
      await comesTrue(kim, `[...document.images].map(({ naturalWidth }) => naturalWidth).join() === '${widths}'`)
    t.ok(await shown('192,9'), 'what cannot be loaded leaves an empty place')
    await save.click()
    await kim.getByText(/^Pictures must be an https URL/).waitFor()
    t.equal(
      await kim.evaluate('document.activeElement.value'),
      'http://cdn.example/b.svg',
      'the wrong one has the focus'
    )
    await kim.getByRole('button', { name: 'Remove picture 4' }).click()
    await kim.getByRole('button', { name: 'Move picture 2 up' }).click()
    t.equal(await kim.evaluate('document.activeElement.value'), 'https://cdn.example/a.svg', 'which goes with it')
    t.ok(await shown('9,192'))
    await save.click()
    await kim.getByText('Product saved').waitFor()
    const { body: [stored] } = await call(
      'GET',
      `${baseUrl}/shops/${shopId}/products?filter=${encodeURIComponent('{"name":"Pour-Over Dripper, Sage"}')}`,
      { headers: { 'x-api-key': key } }
    )
    t.strictSame(stored.image_urls, [
      'https://cdn.example/a.svg',
      '/pictures/copper-kettle/pour-over-dripper-sage.svg',
      'https://cdn.example/gone.png'
    ])
    t.strictSame(
      [...new Set(requested)].toSorted(),
      ['https://cdn.example/a.svg', 'https://cdn.example/gone.png'],
      'no host hears of half an address, nor of the page'
    )
    await kim.unroute(/^https:/)
  })

  await t.test('filters and selected rows of one shop do nothing in another', async (t) => {
    const noor = await signIn(browser, baseUrl, person('noor'), '/console/shops/north-trail/products')
    await noor.getByPlaceholder('Search by name').fill('no such thing')
    await noor.getByText('Nothing matches these filters').waitFor()
    await goWithin(noor, '/console/shops/paper-lantern/products')
    await noor.getByRole('row').nth(2).waitFor()
    t.equal(await noor.getByPlaceholder('Search by name').inputValue(), '')
    await noor.getByRole('checkbox').nth(1).check()
    await noor.getByText('1 item selected').waitFor()
    await goWithin(noor, '/console/shops/north-trail/products')
    t.equal(await noor.getByText('1 item selected').isVisible(), false)
    await noor.waitForURL(/no(?:%20|\+)such/)
    t.equal(await noor.getByPlaceholder('Search by name').inputValue(), 'no such thing', 'and each keeps its own')
    t.strictSame(faultsOf.get(noor), [])
  })

  t.strictSame(faultsOf.get(kim), [])
})
