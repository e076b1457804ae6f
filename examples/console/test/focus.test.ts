import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

t.test('the focus goes where the eye goes', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo } = await openDemo(t)
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const headers = { 'x-api-key': kettle.api_key }
  const api = async (method: string, path: string, body: object) =>
    await call(method, `${baseUrl}/shops/${kettle.id}${path}`, { headers, body })
  const browser = await openBrowser(t)
  const path = '/console/shops/copper-kettle/products'
  const kim = await signIn(browser, baseUrl, demo.users.find(({ username }) => username === 'kim')!, path)
  const onHeading = async (page: Page) => await comesTrue(page, "document.activeElement.localName === 'h1'")
  /** It is somewhere, and the next element is not one that deletes. */
  const isSafe = async (t: Test) => {
    t.ok(
      await comesTrue(
        kim,
        "document.activeElement !== document.body && document.querySelector('[role=dialog]') === null"
      )
    )
    await kim.keyboard.press('Tab')
    t.notMatch(
      await kim.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent'),
      /^(Delete|Revoke|Remove)/
    )
  }
  const { body: { id } } = await api('POST', '/products', { name: 'Focused product', status: 'draft' })

  await t.test('after a save it is on the heading, and Tab does not lead to Delete', async (t) => {
    await goWithin(kim, `${path}/${id}`)
    await kim.getByLabel('SKU').fill('FOCUS-1')
    await kim.getByRole('button', { name: 'Save', exact: true }).focus()
    await kim.keyboard.press('Enter')
    await kim.getByText('Product saved').waitFor()
    t.ok(await onHeading(kim))
    await isSafe(t)
  })

  await t.test('Escape closes the question about changes of others, and the page has the focus again', async (t) => {
    await goWithin(kim, `${path}/${id}`)
    await kim.getByLabel('SKU').fill('FOCUS-2')
    await api('PATCH', `/products/${id}`, { sku: 'FOCUS-3' })
    await kim.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = kim.getByRole('dialog', { name: 'Changed since you opened it' })
    await dialog.waitFor()
    await kim.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.equal(await kim.getByLabel('SKU').inputValue(), 'FOCUS-2')
    t.ok(await onHeading(kim))
  })

  await t.test('after a change of the selected products it is on the heading', async (t) => {
    await goWithin(kim, `${path}?filter=${encodeURIComponent('{"q":"Focused"}')}`, true)
    await kim.getByRole('row', { name: /Focused product/ }).getByRole('checkbox').check()
    await kim.getByRole('button', { name: 'Set status' }).click()
    await kim.getByRole('menuitem', { name: 'Active' }).click()
    await kim.getByText('1 product changed').waitFor()
    t.ok(await onHeading(kim))
  })

  await t.test('after a row is deleted in a dialog it is on the heading', async (t) => {
    t.equal((await api('POST', '/categories', { name: 'Deleted by hand' })).status, 201)
    await goWithin(kim, '/console/shops/copper-kettle/categories')
    await kim.getByRole('button', { name: 'Delete Deleted by hand' }).click()
    await kim.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await kim.getByRole('button', { name: 'Delete Deleted by hand' }).waitFor({ state: 'detached' })
    t.ok(await onHeading(kim))
  })

  await t.test('after a record is deleted it is on the heading of the list', async (t) => {
    const { body: { id } } = await api('POST', '/tags', { name: 'Deleted in its form' })
    await goWithin(kim, `/console/shops/copper-kettle/tags/${id}`)
    await kim.getByRole('button', { name: 'Delete' }).focus()
    await kim.keyboard.press('Enter')
    await kim.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
    await kim.getByRole('heading', { level: 1, name: 'Tags' }).waitFor()
    t.ok(await onHeading(kim))
    await isSafe(t)
  })

  await t.test('after a filter is taken away it is among the filters', async (t) => {
    await goWithin(kim, `${path}?filter=${encodeURIComponent('{"status":["draft"]}')}`)
    await kim.getByRole('button', { name: 'Clear all' }).press('Enter')
    await kim.getByRole('button', { name: 'Clear all' }).waitFor({ state: 'detached' })
    t.ok(await comesTrue(kim, "document.activeElement.ariaLabel === 'Filters'"))
    await isSafe(t)
  })

  await t.test('after a change is undone it is in its row: the next one is a few keys away', async (t) => {
    const { body: tag } = await api('POST', '/tags', { name: 'Undone by hand' })
    for (const name of ['Undone once', 'Undone twice']) await api('PATCH', `/tags/${tag.id}`, { name })
    const filter = encodeURIComponent(JSON.stringify({ record_id: tag.id }))
    await goWithin(kim, `/console/shops/copper-kettle/history?filter=${filter}`)
    await kim.getByRole('button', { name: /^Undo: / }).first().press('Enter')
    await kim.getByText('1 change will be undone.').waitFor()
    await kim.getByRole('button', { name: 'Undo now' }).press('Enter')
    await kim.getByText('1 change undone').waitFor()
    await kim.getByRole('dialog').waitFor({ state: 'detached' })
    t.ok(await comesTrue(kim, "document.activeElement.ariaLabel === 'Details: Undone twice'"))
    t.ok(
      await kim.evaluate("document.activeElement.closest('li').textContent.includes('Undone')"),
      'the row that was undone'
    )
    await isSafe(t)
  })

  await t.test('after a piece of work is undone it is in its row, too', async (t) => {
    await goWithin(kim, '/console/shops/copper-kettle/history?who=agents')
    await kim.getByRole('button', { name: /^Undo all: / }).first().press('Enter')
    await kim.getByText(/changes? will be undone\./).first().waitFor()
    await kim.getByRole('button', { name: 'Undo now' }).press('Enter')
    await kim.getByRole('dialog').waitFor({ state: 'detached' })
    t.ok(await comesTrue(kim, '/^(See each|Undo all): /.test(document.activeElement.ariaLabel)'))
    await isSafe(t)
  })

  await t.test('after a key is revoked it is on the heading', async (t) => {
    await goWithin(kim, '/console/shops/copper-kettle/api-keys')
    await kim.getByRole('button', { name: 'Actions for Demo' }).press('Enter')
    await kim.getByRole('menuitem', { name: 'Revoke' }).press('Enter')
    await kim.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter')
    await kim.getByText('“Demo” is revoked').waitFor()
    t.ok(await onHeading(kim))
    await isSafe(t)
  })
  t.strictSame(faultsOf.get(kim), [])
})
