import t from 'tap'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { call } from '../../shop/test/process.ts'
import { comesTrue, faultsOf, goWithin, listen, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

t.test('the console for ears', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person } = await openDemo(t)
  const shop = '/console/shops/copper-kettle'
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'), `${shop}/products`)
  const heard = async (text: string) => {
    t.ok(await comesTrue(kim, `heard.includes(${JSON.stringify(text)})`), text)
    t.strictSame(await kim.evaluate('heard'), [text], 'once, and nothing else')
  }

  await t.test('the menu is beside the page, whose first heading is its name', async (t) => {
    await kim.getByRole('row').nth(5).waitFor()
    t.equal(await kim.locator('main nav[aria-label="Shop console"]').count(), 0)
    t.equal(await kim.getByRole('navigation', { name: 'Shop console' }).count(), 1)
    t.equal(await kim.evaluate("document.querySelector('h1, h2, h3, h4').localName"), 'h1')
  })

  await t.test('a table has a name, its columns are called by theirs, and its rows by their records', async (t) => {
    const table = kim.getByRole('table', { name: 'Products', exact: true })
    t.strictSame(
      await table.locator('[role=columnheader]').allInnerTexts(),
      ['Name', 'SKU', 'Status', 'Price', 'Tags', 'Changed']
    )
    t.equal(await table.getByRole('columnheader', { name: 'Name', exact: true }).getAttribute('aria-sort'), 'ascending')
    const row = table.getByRole('row').filter({
      has: kim.getByRole('rowheader', { name: 'Assam Loose Leaf 100 g', exact: true })
    })
    await row.getByRole('checkbox', { name: 'Select Assam Loose Leaf 100 g', exact: true }).waitFor()
  })

  await t.test('results are said once, also none', async (t) => {
    const search = kim.getByRole('textbox', { name: /search/i })
    await listen(kim)
    await search.fill('gooseneck')
    await kim.waitForURL(/gooseneck/)
    const rows = kim.getByRole('rowheader')
    t.ok(await comesTrue(kim, "document.querySelector('tbody') !== null && heard.length > 0"))
    await heard(`${await rows.count()} results`)
    await listen(kim)
    await search.fill('no such thing')
    await heard('No results')
    await search.fill('')
    await kim.getByRole('row').nth(5).waitFor()
  })

  await t.test('how something ended is said once', async (t) => {
    await goWithin(kim, `${shop}/tags/create`)
    await kim.getByLabel('Name').fill('Said')
    await listen(kim)
    await kim.getByRole('button', { name: 'Save' }).click()
    await heard('Tag created')
    await goWithin(kim, `${shop}/products`)
    await kim.getByRole('checkbox', { name: /^Select / }).nth(1).check()
    await listen(kim)
    await kim.getByRole('button', { name: 'Set status' }).click()
    await kim.getByRole('menuitem', { name: 'Active' }).click()
    await heard('1 product changed')
  })

  await t.test('in a dialog, how far a long work is is said, too', async (t) => {
    await kim.getByRole('checkbox', { name: /^Select / }).nth(1).check()
    await kim.getByRole('button', { name: 'Change tags' }).click()
    await kim.getByRole('combobox', { name: 'Add these tags' }).fill('Bestseller')
    await kim.getByRole('option', { name: 'Bestseller' }).click()
    await listen(kim)
    await kim.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
    await kim.getByRole('dialog').waitFor({ state: 'detached' })
    const said: readonly string[] = await kim.evaluate('heard')
    t.equal(said[0], '0 of 1')
    t.equal(said.filter((text) => text === '1 product changed').length, 1)
  })

  await t.test('an undo says what it would do and that it is done, and no fault between', async (t) => {
    const { id: shopId, api_key: key } = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
    const api = async (method: string, path: string, body: object) =>
      (await call(method, `${baseUrl}/shops/${shopId}${path}`, { headers: { 'x-api-key': key }, body })).body
    const { id } = await api('POST', '/tags', { name: 'Heard' })
    await api('PATCH', `/tags/${id}`, { name: 'Overheard' })
    await goWithin(kim, `${shop}/history?filter=${encodeURIComponent(JSON.stringify({ record_id: id }))}`)
    await listen(kim)
    await kim.getByRole('button', { name: 'Undo: Overheard' }).first().press('Enter')
    await kim.getByText('1 change will be undone.').waitFor()
    await kim.getByRole('button', { name: 'Undo now' }).press('Enter')
    await kim.getByRole('dialog').waitFor({ state: 'detached' })
    t.ok(await comesTrue(kim, "heard.includes('1 change undone')"))
    t.match(await kim.evaluate('heard'), [/^1 change will be undone\.Overheard is set back/, '1 change undone'])
    t.equal((await kim.evaluate<readonly string[]>('heard')).length, 2)
  })
  t.strictSame(faultsOf.get(kim), [])
})
