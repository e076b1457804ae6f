import t from 'tap'
import type { Page } from 'playwright-core'
import { call, readDemo, seededData, start } from '../../shop/test/process.ts'
import { faultsOf, goWithin, openBrowser, signIn, withoutChromium } from './browser.ts'

/** What people do and programs do not: type slowly, choose twice, go back, work in two shops. */
t.test('the console in slow hands', { skip: withoutChromium }, async (t) => {
  const settings = await seededData(t)
  const { baseUrl } = await start(t, 'demo/start', settings)
  const demo = readDemo(settings.DATA_DIR)
  const person = (name: string) => demo.users.find(({ username }) => username === name)!
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
    await kim.getByRole('button', { name: 'Status', exact: true }).click()
    await kim.getByRole('menuitemcheckbox', { name: 'Draft' }).click()
    await kim.getByRole('menuitemcheckbox', { name: 'Draft', checked: true }).waitFor()
    await kim.getByRole('menuitemcheckbox', { name: 'Archived' }).click()
    await kim.getByRole('menuitemcheckbox', { checked: true }).nth(1).waitFor()
    t.match(kim.url(), /draft.*archived/)
    await kim.keyboard.press('Escape')
    await kim.getByRole('button', { name: 'Clear all' }).click()
    t.ok(await isSame(kim))
  })

  await t.test('sorting, paging, the menu and Back rebuild nothing', async (t) => {
    await kim.getByRole('button', { name: 'Sort by sku ascending' }).click()
    await kim.waitForURL(/sort=sku/)
    await kim.getByRole('button', { name: /Go to next page/ }).click()
    await kim.waitForURL(/page=2/)
    await kim.getByRole('link', { name: 'Tags', exact: true }).click()
    await kim.getByRole('heading', { level: 1, name: 'Tags' }).waitFor()
    await kim.goBack()
    await kim.getByRole('heading', { level: 1, name: 'Products' }).waitFor()
    t.ok(await isSame(kim))
  })

  await t.test('what was typed into a form is not lost by going back', async (t) => {
    await goWithin(kim, '/console/shops/copper-kettle/products/create')
    await kim.getByLabel(/^Name/).fill('A kettle that is nearly described')
    const questions: string[] = []
    kim.removeAllListeners('dialog')
    kim.on('dialog', (dialog) => { questions.push(dialog.message()); dialog.dismiss().catch(() => {}) })
    await kim.evaluate('history.back()')
    await kim.waitForTimeout(1000)
    const kept = await kim.getByLabel(/^Name/).inputValue().catch(() => undefined)
    t.equal(kept, 'A kettle that is nearly described')
    t.equal(questions.length, 1, 'after a question')
  })

  await t.test('a price keeps its digits in another currency, or is refused', async (t) => {
    const { api_key: key, id: shopId } = demo.shops[0]!
    const { body: { id } } = await call('POST', `${baseUrl}/shops/${shopId}/products`, { headers: { 'x-api-key': key }, body: { name: 'Imported tin', currency: 'JPY', price_amount: 1999 } })
    const stored = async () => { const { body: { price_amount: amount, currency } } = await call('GET', `${baseUrl}/shops/${shopId}/products/${id}`, { headers: { 'x-api-key': key } }); return [amount, currency] }
    await goWithin(kim, `/console/shops/copper-kettle/products/${id}`)
    const [price, currency] = [kim.getByRole('textbox', { name: 'Price', exact: true }), kim.getByRole('textbox', { name: 'Currency' })]
    t.equal(await price.inputValue(), '1999')
    await currency.fill('')
    await currency.pressSequentially('usd', { delay: 50 })
    t.equal(await price.inputValue(), '1999.00')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Element updated').waitFor()
    t.strictSame(await stored(), [199900, 'USD'])
    await price.fill('19.99')
    await currency.fill('JPY')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Enter an amount in JPY, such as 1999').waitFor()
    t.strictSame(await stored(), [199900, 'USD'], 'nothing was saved')
    await currency.fill('USD')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('Element updated').waitFor()
    t.strictSame(await stored(), [1999, 'USD'])
    await goWithin(kim, `/console/shops/copper-kettle/history?filter=${encodeURIComponent(JSON.stringify({ record_id: id }))}`)
    await kim.getByRole('button', { name: /^Details/ }).last().click()
    await kim.getByRole('cell', { name: '¥1,999' }).waitFor()
  })

  await t.test('filters and selected rows of one shop do nothing in another', async (t) => {
    const noor = await signIn(browser, baseUrl, person('noor'), '/console/shops/north-trail/products')
    await noor.getByPlaceholder('Search by name').fill('no such thing')
    await noor.waitForURL(/no(?:%20|\+)such/)
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
