import type { Page, Request } from 'playwright-core'
import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { answer, faultsOf, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

const OPEN = 'The connection was lost before the server answered. ' +
  'It may have been done all the same: look whether it was before you repeat it.'

t.test('a write that failed says whether it may have been done', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo } = await openDemo(t)
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const headers = { 'x-api-key': kettle.api_key }
  const api = async (method: string, path: string, body?: object) =>
    await call(method, `${baseUrl}/shops/${kettle.id}${path}`, { headers, ...body !== undefined && { body } })
  const found = async (list: string, filter: object) =>
    (await api('GET', `/${list}?filter=${encodeURIComponent(JSON.stringify(filter))}`)).body
  const shop = '/console/shops/copper-kettle'
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, demo.users.find(({ username }) => username === 'kim')!, shop)

  /** The server does what one of the requests asks for, and its answer is lost. */
  const loseAnswer = async (page: Page, isIt: (request: Request) => boolean) => {
    await page.route('**/shops/**', async (route) => {
      if (!isIt(route.request())) return await route.continue()
      await route.fetch()
      await route.abort('connectionreset')
    })
  }

  await t.test('a new record whose answer is lost is not made twice', async (t) => {
    await goWithin(kim, `${shop}/tags/create`)
    await kim.getByLabel('Name').fill('Made once')
    await loseAnswer(kim, (request) => request.method() === 'POST')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText(OPEN).waitFor()
    t.equal((await found('tags', { name: 'Made once' })).length, 1)
    await kim.unrouteAll()
    await kim.getByRole('link', { name: 'Tags', exact: true }).click()
    await answer(kim, 'Discard')
    await kim.getByRole('link', { name: 'Made once' }).waitFor()
  })

  await t.test('without a connection nothing is sent, also later', async (t) => {
    await goWithin(kim, `${shop}/tags/create`)
    await kim.getByLabel('Name').fill('Made never')
    await kim.context().setOffline(true)
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByText('There is no connection, so nothing was sent.').waitFor()
    await kim.context().setOffline(false)
    await kim.getByRole('button', { name: 'Save' }).waitFor()
    t.strictSame(await found('tags', { name: 'Made never' }), [])
    t.equal(await kim.getByLabel('Name').inputValue(), 'Made never')
    await kim.getByRole('button', { name: 'Save' }).click()
    await kim.getByRole('link', { name: 'Made never' }).waitFor()
    t.equal((await found('tags', { name: 'Made never' })).length, 1)
  })

  await t.test('a change of many says how many more may have been changed', async (t) => {
    for (const n of [1, 2, 3]) await api('POST', '/products', { name: `Many ${n}`, status: 'draft' })
    await goWithin(kim, `${shop}/products?filter=${encodeURIComponent('{"q":"Many"}')}&sort=name&order=ASC`)
    await kim.getByText('1-3 of 3').waitFor()
    await kim.getByRole('checkbox', { name: 'Select all' }).check()
    const [, second] = await found('products', { q: 'Many' })
    await loseAnswer(kim, (request) => request.method() === 'PATCH' && request.url().endsWith(second.id))
    await kim.getByRole('button', { name: 'Set status' }).click()
    await kim.getByRole('menuitem', { name: 'Active' }).click()
    const said = '2 of 3 products changed, 1 more may have been. What is not changed stays selected'
    await kim.getByText(`${said}: ${OPEN}`).waitFor()
    await kim.getByText('1 item selected').waitFor()
    t.equal((await found('products', { q: 'Many', status: 'active' })).length, 3)
    await kim.unrouteAll()
    await kim.getByRole('row', { name: new RegExp(second.name) }).getByText('Active').waitFor()
    await kim.getByRole('button', { name: 'Unselect' }).click()
  })

  await t.test('an import whose answer is lost is in the list below', async (t) => {
    await goWithin(kim, `${shop}/imports`)
    const buffer = Buffer.from('name,status\nImported once,draft\n')
    await kim.locator('input[type=file]').setInputFiles({ name: 'once.csv', mimeType: 'text/csv', buffer })
    await kim.getByText('1 product in the file').waitFor()
    await loseAnswer(kim, (request) => request.method() === 'POST')
    await kim.locator('#main-content').getByRole('button', { name: 'Import', exact: true }).click()
    await kim.getByText(OPEN).waitFor()
    await kim.getByRole('row', { name: /^once\.csv .* 1 created/ }).waitFor()
    t.equal((await found('products', { name: 'Imported once' })).length, 1)
    await kim.unrouteAll()
  })

  await t.test('an undo whose answer is lost shows what is so now', async (t) => {
    const { body: { id } } = await api('POST', '/tags', { name: 'Undone once' })
    await goWithin(kim, `${shop}/history?filter=${encodeURIComponent(JSON.stringify({ record_id: id }))}`, true)
    await kim.getByRole('button', { name: /^Undo/ }).first().click()
    const dialog = kim.getByRole('dialog')
    const undo = dialog.getByRole('button', { name: 'Undo now' })
    await undo.and(kim.locator(':enabled')).waitFor()
    await loseAnswer(kim, (request) => request.method() === 'POST')
    await undo.click()
    await dialog.getByText(OPEN).waitFor()
    await kim.unrouteAll()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await kim.getByRole('listitem').filter({ hasText: 'deleted' }).waitFor()
    t.strictSame(await found('tags', { name: 'Undone once' }), [])
  })
  t.strictSame(faultsOf.get(kim), [])
})
