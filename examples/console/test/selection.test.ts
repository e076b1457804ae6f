import t from 'tap'
import type { Page } from 'playwright-core'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, goWithin, listen, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

t.test('what is selected is seen, or is named before it changes', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, headersOf } = await openDemo(t)
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const headers = { 'x-api-key': kettle.api_key }
  const api = async (method: string, path: string, body?: object) =>
    await call(method, `${baseUrl}/shops/${kettle.id}${path}`, { headers, ...body !== undefined && { body } })
  const made = async (name: string) => (await api('POST', '/products', { name, status: 'draft' })).body.id as string
  const statusOf = async (ids: readonly string[]) => {
    const { body } = await api('GET', `/products?filter=${encodeURIComponent(JSON.stringify({ id: ids }))}&sort=name`)
    return body.map(({ status }: { status: string }) => status)
  }
  const browser = await openBrowser(t)
  const path = '/console/shops/copper-kettle/products'
  const kim = await signIn(browser, baseUrl, demo.users.find(({ username }) => username === 'kim')!, path)
  const listed = async (page: Page, filter: object) => {
    const query = new URLSearchParams({ filter: JSON.stringify(filter), perPage: '25', page: '1', sort: 'name' })
    await goWithin(page, `${path}?${query}&order=ASC`)
  }
  const shot = async (name: string) => {
    if (process.env['SHOTS'] !== undefined) await kim.screenshot({ path: `${process.env['SHOTS']}/${name}.png` })
  }
  const rowOf = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })
  const tick = async (page: Page, name: string) => await rowOf(page, name).getByRole('checkbox').check()
  const bar = (page: Page) => page.getByText(/^\d+ (?:items? )?selected/).filter({ visible: true })
  const setStatus = async (page: Page, status: string) => {
    await page.getByRole('button', { name: 'Set status' }).click()
    await page.getByRole('menuitem', { name: status }).click()
  }
  const drafts = [await made('Hidden draft 1'), await made('Hidden draft 2'), await made('Hidden draft 3')]
  const other = await made('Seen draft')

  await t.test('another search starts without the selection of the one before', async (t) => {
    await listed(kim, { q: 'Hidden draft' })
    for (const n of [1, 2, 3]) await tick(kim, `Hidden draft ${n}`)
    await bar(kim).waitFor()
    await kim.getByPlaceholder('Search by name').fill('Seen draft')
    await rowOf(kim, 'Seen draft').waitFor()
    await rowOf(kim, 'Hidden draft 1').waitFor({ state: 'detached' })
    t.equal(await bar(kim).count(), 0)
    await tick(kim, 'Seen draft')
    t.match(await bar(kim).innerText(), /^1 /)
    await setStatus(kim, 'Active')
    await kim.getByText('1 product changed').waitFor()
    t.strictSame(await statusOf([...drafts, other]), ['draft', 'draft', 'draft', 'active'])
  })

  await t.test('a reload, another window and another shop start without it', async (t) => {
    await listed(kim, { q: 'Hidden draft' })
    await tick(kim, 'Hidden draft 1')
    const second = await kim.context().newPage()
    await second.goto(kim.url())
    await rowOf(second, 'Hidden draft 1').waitFor()
    t.equal(await bar(second).count(), 0, 'another window')
    await tick(second, 'Hidden draft 2')
    t.match(await bar(kim).innerText(), /^1 /)
    const there = rowOf(kim, 'Hidden draft 2').getByRole('checkbox')
    t.equal(await there.isChecked(), false, 'and what is selected there is not selected here')
    await second.close()
    await kim.reload()
    await rowOf(kim, 'Hidden draft 1').waitFor()
    t.equal(await bar(kim).count(), 0, 'a reload')
  })

  await t.test('what is selected on other pages is counted, and named before it changes', async (t) => {
    const names = Array.from({ length: 27 }, (_, n) => `Paged ${String(n + 1).padStart(2, '0')}`)
    const many = await Promise.all(names.map(made))
    await listed(kim, { q: 'Paged' })
    await tick(kim, 'Paged 01')
    await tick(kim, 'Paged 02')
    await kim.getByRole('button', { name: /Go to next page/ }).click()
    await tick(kim, 'Paged 27')
    t.equal(await bar(kim).innerText(), '3 items selected, 2 not on this page')
    await shot('selection-bar')
    await setStatus(kim, 'Active')
    const question = kim.getByRole('dialog', { name: 'Set the status of 3 products to Active?' })
    await question.getByText('2 of them are not on this page:').waitFor()
    t.strictSame(await question.getByRole('listitem').allInnerTexts(), ['Paged 01', 'Paged 02'])
    await shot('selection-question')
    await question.getByRole('button', { name: 'Cancel' }).click()
    t.strictSame(await statusOf(many), Array(27).fill('draft'), 'nothing has changed yet')
    t.equal((await api('DELETE', `/products/${many[0]}`)).status, 204)
    await setStatus(kim, 'Active')
    const fewer = kim.getByRole('dialog', { name: 'Set the status of 2 products to Active?' })
    await fewer.getByText('One more is not there any more, and left out.').waitFor()
    await fewer.getByRole('button', { name: 'Set status' }).click()
    await kim.getByText('2 products changed').waitFor()
    t.strictSame(await statusOf(many), ['active', ...Array(24).fill('draft'), 'active'])
    await bar(kim).waitFor({ state: 'hidden' })
  })

  await t.test('tags name what is on other pages too', async () => {
    await listed(kim, { q: 'Paged' })
    await tick(kim, 'Paged 03')
    await kim.getByRole('button', { name: /Go to next page/ }).click()
    await rowOf(kim, 'Paged 27').waitFor()
    await kim.getByRole('button', { name: 'Change tags' }).click()
    const dialog = kim.getByRole('dialog', { name: 'Tags of 1 product' })
    await dialog.getByRole('listitem').filter({ hasText: 'Paged 03' }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await kim.getByRole('button', { name: 'Unselect' }).click()
  })

  await t.test('a row that an agent deletes while it is selected leaves the others to be changed', async (t) => {
    const [one, two] = [await made('Deleted soon'), await made('Deleted never')]
    await listed(kim, { q: 'Deleted' })
    await tick(kim, 'Deleted soon')
    await tick(kim, 'Deleted never')
    t.equal((await api('DELETE', `/products/${one}`)).status, 204)
    await setStatus(kim, 'Active')
    await kim.getByText('1 product changed, 1 not there any more').waitFor()
    t.strictSame(await statusOf([two]), ['active'])
    await rowOf(kim, 'Deleted soon').waitFor({ state: 'detached' })
    await bar(kim).waitFor({ state: 'hidden' })
  })

  await t.test('all of one search, when they come late, are not selected in the next', async (t) => {
    await listed(kim, { q: 'Paged' })
    // Until then it is the list before, whose selection goes with it.
    await rowOf(kim, 'Paged 03').waitFor()
    await kim.getByRole('checkbox', { name: 'Select all' }).check()
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      kim.route(/\/products\?.*(?:200|199)/, async (route) => {
        resolve()
        await new Promise<void>((resolve) => {
          answer = resolve
        })
        await route.continue()
      }).catch(() => {})
    })
    await kim.locator('[data-test=bulk-actions-toolbar]').getByRole('button', { name: 'Select all' }).click()
    await asked
    await kim.getByPlaceholder('Search by name').fill('Seen draft')
    await rowOf(kim, 'Seen draft').waitFor()
    await rowOf(kim, 'Paged 03').waitFor({ state: 'detached' })
    const answered = kim.waitForResponse(/\/products\?.*(?:200|199)/)
    answer()
    await (await answered).finished()
    await tick(kim, 'Seen draft')
    t.equal(await bar(kim).innerText(), '1 item selected')
    await kim.unrouteAll()
    await kim.getByRole('button', { name: 'Unselect' }).click()
  })

  await t.test('who looks at a selected product and comes back has not lost the others', async (t) => {
    await listed(kim, { q: 'Hidden draft' })
    await tick(kim, 'Hidden draft 1')
    await tick(kim, 'Hidden draft 2')
    await kim.getByRole('link', { name: 'Hidden draft 2' }).click()
    await kim.getByRole('heading', { level: 1, name: 'Hidden draft 2' }).waitFor()
    await kim.goBack()
    await rowOf(kim, 'Hidden draft 2').waitFor()
    t.equal(await bar(kim).innerText(), '2 items selected')
    await kim.getByRole('button', { name: 'Unselect' }).click()
  })

  await t.test('half of what an agent did is chosen and undone together, and the other half stays', async (t) => {
    const ids: string[] = []
    for (let n = 1; n <= 8; n += 1) ids.push(await made(`Night ${n}`))
    for (const [n, id] of ids.entries()) await api('PATCH', `/products/${id}`, { name: `Changed ${n + 1}` })
    const names = async () => await Promise.all(ids.map(async (id) => (await api('GET', `/products/${id}`)).body.name))
    const filter = { record_id: ids, action: ['update'] }
    const history = `/console/shops/copper-kettle/history?filter=${encodeURIComponent(JSON.stringify(filter))}`
    const undo = kim.getByRole('button', { name: /^Undo \d+ changes?$/ })
    const whole = kim.getByRole('checkbox', { name: 'Select all on this page' })
    const choice = (n: number) => kim.getByRole('checkbox', { name: new RegExp(`^Demo changed Changed ${n}: Name `) })
    await kim.setViewportSize({ width: 360, height: 740 })
    await goWithin(kim, history)
    await choice(8).waitFor()
    t.equal(await kim.getByRole('checkbox').count(), 9, 'one for each, and one for all')
    await whole.press('Space')
    t.equal(await bar(kim).innerText(), '8 items selected')
    await whole.press('Space')
    await bar(kim).waitFor({ state: 'hidden' })
    for (const n of [7, 5, 3, 2]) await choice(n).press('Space')
    t.ok(await whole.evaluate((box: any) => box.dataset.indeterminate === 'true'), 'some of the page')
    t.equal(await bar(kim).innerText(), '4 items selected')
    await shot('undo-chosen')
    t.ok(await comesTrue(kim, 'document.documentElement.scrollWidth <= 360'))

    await undo.press('Enter')
    const dialog = kim.getByRole('dialog', { name: 'Undo 4 changes?' })
    await dialog.getByText('4 changes will be undone.').waitFor()
    await kim.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.ok(await comesTrue(kim, "document.activeElement.textContent === 'Undo 4 changes'"), 'where it was opened')
    await choice(5).press('Space')
    await choice(4).press('Space')
    await undo.press('Enter')
    await dialog.getByText(/^Changed 4 is set back \(Name/).waitFor()
    await shot('undo-chosen-question')
    await listen(kim)
    await kim.getByRole('button', { name: 'Undo now' }).press('Enter')
    await dialog.waitFor({ state: 'detached' })
    t.ok(await comesTrue(kim, "heard.includes('4 changes undone')"))
    t.strictSame(await kim.evaluate('heard'), ['4 changes undone'], 'once, and nothing else')
    t.ok(await comesTrue(kim, "document.activeElement.localName === 'h1'"))
    t.strictSame(
      await names(),
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${[2, 3, 4, 7].includes(n) ? 'Night' : 'Changed'} ${n}`)
    )
    await bar(kim).waitFor({ state: 'hidden' })
    t.equal(await kim.getByRole('checkbox', { checked: true }).count(), 0)
    await kim.setViewportSize({ width: 1280, height: 860 })
  })

  await t.test('changes are chosen page by page, and at most a hundred are undone together', async (t) => {
    const items = Array.from({ length: 101 }, (_, n) => ({ name: `Many ${n + 1}` }))
    const { body } = await call('POST', `${baseUrl}/shops/${kettle.id}/products/batch`, {
      headers: await headersOf('kim'),
      body: { items }
    })
    t.equal(body.created, 101)
    const filter = JSON.stringify({ operation: 'write_products' })
    const query = new URLSearchParams({ filter, perPage: '100', page: '1', sort: 'at', order: 'DESC' })
    await goWithin(kim, `/console/shops/copper-kettle/history?${query}`)
    const undo = kim.getByRole('button', { name: 'Undo 100 changes' })
    const rows = kim.getByRole('checkbox', { name: /^You created Many / })
    // Changes of the same millisecond are listed in no certain order.
    await rows.nth(99).waitFor()
    await kim.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await undo.waitFor()
    await kim.getByRole('button', { name: /Go to next page/ }).click()
    await rows.nth(99).waitFor({ state: 'detached' })
    const last = rows.first()
    await last.check()
    t.equal(await bar(kim).innerText(), '101 items selected, 100 not on this page')
    await kim.getByText('At most 100 can be undone together').waitFor()
    t.equal(await kim.getByRole('button', { name: /^Undo \d+ changes$/ }).count(), 0)
    await last.uncheck()
    await undo.click()
    await kim.getByText('100 changes will be undone.').waitFor()
    await kim.getByRole('button', { name: 'Undo now' }).click()
    await kim.getByText('100 changes undone').waitFor()
    await bar(kim).waitFor({ state: 'hidden' })
    t.equal((await api('GET', `/products?filter=${encodeURIComponent('{"q":"Many"}')}`)).body.length, 1)
  })

  await t.test('a chosen change that is undone by itself is chosen no more', async (t) => {
    const id = await made('Twice')
    for (const name of ['Once changed', 'Twice changed']) await api('PATCH', `/products/${id}`, { name })
    const filter = encodeURIComponent(JSON.stringify({ record_id: id }))
    await goWithin(kim, `/console/shops/copper-kettle/history?filter=${filter}`)
    await kim.getByRole('button', { name: 'Undo: Twice changed' }).waitFor()
    await kim.getByRole('checkbox', { name: 'Select all on this page' }).check()
    t.equal(await bar(kim).innerText(), '3 items selected')
    await kim.getByRole('button', { name: 'Undo: Twice changed' }).click()
    await kim.getByRole('button', { name: 'Undo now' }).click()
    await kim.getByText('1 change undone').waitFor()
    await kim.getByText('2 items selected').waitFor()
    await kim.getByRole('button', { name: 'Unselect' }).click()
  })
  t.strictSame(faultsOf.get(kim), [])
})
