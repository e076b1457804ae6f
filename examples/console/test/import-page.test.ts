import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, listen, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

const LINES = [
  'Cosy for a pot of six cups and more,TC-1,19.00,active',
  'Kettle,TK-1,"1,900",active',
  'Mug,TM-1,9.50,active',
  'Pot,TP-1,3.00,brewing',
  'Tray,TT-1,12.00,draft'
]

/** Sends a file that has been checked, and waits for its page. */
async function send (page: Page, name: string, content: string, skips: boolean): Promise<void> {
  const buffer = Buffer.from(content)
  await page.getByLabel('Choose a file').setInputFiles({ name, mimeType: 'text/csv', buffer })
  await page.getByText(/products? in the file/).waitFor()
  if (skips) await page.getByRole('switch').check()
  await page.locator('#main-content').getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

t.test('the page of an import: its lines, those that failed, and its undo', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person } = await openDemo(t)
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const found = async () =>
    (await call(
      'GET',
      `${baseUrl}/shops/${kettle.id}/products?sort=sku&filter=${
        encodeURIComponent('{"sku":["TC-1","TK-1","TM-1","TP-1","TT-1"]}')
      }`,
      { headers: { 'x-api-key': kettle.api_key } }
    )).body as ReadonlyArray<Readonly<Record<string, unknown>>>
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'), '/console/shops/copper-kettle/imports')
  const main = kim.locator('#main-content')
  const rows = main.getByRole('table', { name: 'Lines' }).getByRole('row')
  const head = 'name,sku,price,status'

  await t.test('on a phone, wrong lines fold, and what to leave out is chosen before Import by keyboard', async (t) => {
    await kim.setViewportSize({ width: 360, height: 740 })
    const buffer = Buffer.from([head, ...LINES].join('\n'))
    await kim.getByLabel('Choose a file').setInputFiles({ name: 'teas.csv', mimeType: 'text/csv', buffer })
    const wrong = main.getByRole('table', { name: 'Wrong lines' })
    await wrong.waitFor()
    t.strictSame(await wrong.getByRole('rowheader').allTextContents(), ['3', '5'])
    t.equal(await wrong.locator('[lang=en]').count(), 2, 'said in English in every language')
    t.strictSame(
      await kim.evaluate(
        "[...document.querySelectorAll('main *')].filter((one) => " +
          '/auto|scroll/.test(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight + 1 && ' +
          'one.clientHeight > 1).map(({ outerHTML }) => outerHTML.slice(0, 120))'
      ),
      [],
      'nothing scrolls within the page'
    )
    t.strictSame(await violations(kim), [])
    await kim.getByRole('switch').press('Space')
    await kim.keyboard.press('Tab')
    t.equal(await kim.evaluate('document.activeElement.textContent'), 'Import')
    await kim.setViewportSize({ width: 1280, height: 860 })
  })

  await t.test('of many wrong lines the first ten are shown, and all on demand', async (t) => {
    const wrong = Array.from({ length: 12 }, (_, index) => `Tea ${index},TX-${index},"1,900",active`)
    const buffer = Buffer.from([head, ...wrong].join('\n'))
    await kim.getByLabel('Choose a file').setInputFiles({ name: 'wrong.csv', mimeType: 'text/csv', buffer })
    const table = main.getByRole('table', { name: 'Wrong lines' })
    const count = async () => await table.getByRole('rowheader').count()
    await table.waitFor()
    t.equal(await count(), 10)
    await listen(kim)
    await main.getByRole('button', { name: 'Show all 12' }).press('Enter')
    await table.getByRole('rowheader', { name: '13', exact: true }).waitFor()
    t.equal(await count(), 12)
    t.equal(await kim.evaluate('document.activeElement.textContent'), 'Show fewer', 'the button keeps the focus')
    t.ok(await comesTrue(kim, "heard.includes('12 results')"), String(await kim.evaluate('heard')))
    await kim.keyboard.press('Enter')
    await table.getByRole('rowheader', { name: '13', exact: true }).waitFor({ state: 'detached' })
    t.equal(await count(), 10)
  })

  await t.test('it opens once the file is sent, and says when the import has ended', async (t) => {
    // The end comes after the page: its first answers say that it goes on.
    let isHeld = true
    await kim.route(/\/imports\/[0-9a-f-]{36}$/, async (route) => {
      const answer = await route.fetch()
      const item = await answer.json()
      const held = { ...item, status: 'running', processed: 2, created: 2, failed: 0, finished_at: null }
      await route.fulfill({ response: answer, json: isHeld ? held : item })
    })
    await send(kim, 'teas.csv', [head, ...LINES].join('\n'), true)
    t.ok(await comesTrue(kim, "document.activeElement?.tagName === 'H1'"), 'the heading has the focus')
    await main.getByRole('progressbar', { name: 'Progress' }).and(main.locator('[aria-valuenow="40"]')).waitFor()
    t.equal(await main.getByRole('button', { name: 'Undo' }).count(), 0)
    await listen(kim)
    isHeld = false
    await main.getByText('Failed (2)').waitFor()
    await kim.unrouteAll({ behavior: 'wait' })
    await main.getByText('Done', { exact: true }).waitFor()
    t.ok(await comesTrue(kim, 'heard.length > 0'))
    t.strictSame(await kim.evaluate('heard'), ['teas.csv has ended. Done: 3 created, 2 failed.'], 'once')
  })

  await t.test('its lines are filtered by their outcome', async (t) => {
    await rows.nth(5).waitFor()
    t.match(await rows.allTextContents(), [
      'LineOutcomeProduct, or what is wrong',
      /^2CreatedCosy/,
      /^3Failedprice is "1,900"/,
      /^4CreatedMug/,
      /^5Failedstatus must be one of/,
      /^6CreatedTray/
    ])
    t.equal(await rows.getByRole('rowheader').count(), 5)
    await main.getByRole('button', { name: 'Failed (2)' }).click()
    await main.getByText('1–2 of 2').waitFor()
    t.match(await rows.allTextContents(), [/^Line/, /^3Failed/, /^5Failed/])
    await main.getByRole('button', { name: 'Failed (2)' }).click()
    await main.getByText('1–5 of 5').waitFor()
  })

  await t.test('at 360 px nothing scrolls sideways, and axe finds nothing', async (t) => {
    for (const [width, name] of [[1280, 'wide'], [360, 'narrow']] as const) {
      await kim.setViewportSize({ width, height: 860 })
      t.ok(
        await comesTrue(
          kim,
          "[document.documentElement, ...document.querySelectorAll('#main-content *')].every((one) => " +
            "one.scrollWidth <= one.clientWidth + 1 || !['auto', 'scroll', 'visible'].includes(getComputedStyle(one)" +
            '.overflowX) || one.clientWidth <= 1)'
        ),
        name
      )
      t.strictSame(await violations(kim), [], name)
    }
    await kim.setViewportSize({ width: 1280, height: 860 })
  })

  await t.test('the failed lines are corrected and imported: no other product is touched', async (t) => {
    const before = await found()
    const [download] = await Promise.all([
      kim.waitForEvent('download'),
      main.getByRole('button', { name: 'Download failed lines' }).click()
    ])
    t.equal(download.suggestedFilename(), 'teas-failed-lines.csv')
    const file = readFileSync(await download.path(), 'utf8')
    t.match(file.split('\r\n')[0], '"error","name","sku","price","status"')
    await main.getByRole('note').getByRole('link', { name: 'Import the corrected file' }).click()
    await main.getByRole('row', { name: /^teas\.csv .* Done 5 of 5 lines 3 created, 2 failed$/ }).waitFor()
    await listen(kim)
    await send(kim, 'mended.csv', file.replace(',"1,900",', ',"1900",').replace('"brewing"', '"active"'), false)
    await main.getByText('Created (2)').waitFor()
    const end = 'mended.csv has ended. Done: 2 created.'
    t.ok(await comesTrue(kim, `heard.includes('${end}')`), 'however soon that was')
    t.equal((await kim.evaluate<readonly string[]>('heard')).filter((text) => text === end).length, 1)
    const after = await found()
    t.match(after.map(({ sku }) => sku), ['TC-1', 'TK-1', 'TM-1', 'TP-1', 'TT-1'])
    t.strictSame(after.filter(({ id }) => before.some((one) => one['id'] === id)), before)
  })

  await t.test('an undo says what it does; then the page says that it was undone, and offers no other', async (t) => {
    await main.getByRole('button', { name: 'Undo' }).click()
    const dialog = kim.getByRole('dialog')
    await dialog.getByText('Kettle is deleted').waitFor()
    await dialog.getByRole('button', { name: 'Undo now' }).click()
    await main.getByText('This import was undone.').waitFor()
    t.equal(await main.getByRole('button', { name: /Undo/ }).count(), 0)
    t.ok(await comesTrue(kim, "document.activeElement?.tagName === 'H1'"), 'the heading has the focus')
    t.match((await found()).map(({ sku }) => sku), ['TC-1', 'TM-1', 'TT-1'])
    await main.getByRole('link', { name: 'Imports' }).click()
    await main.getByRole('link', { name: 'teas.csv' }).click()
    await main.getByRole('heading', { level: 1, name: 'teas.csv' }).waitFor()
    await main.getByRole('button', { name: 'Undo' }).waitFor()
  })

  await t.test('an import that is not there has no page', async () => {
    await kim.goto(`${baseUrl}/console/shops/copper-kettle/imports/${kettle.id}`)
    await kim.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
  t.strictSame(faultsOf.get(kim), [])
})
