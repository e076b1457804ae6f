import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, goWithin, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

/** A phone, and a tablet whose menu is open. */
const WIDTHS = [360, 768] as const

/** Tables that end beyond their place, and rows whose parts do. */
const BEYOND = `[...document.querySelectorAll('main table')].flatMap((table) => {
  let place = table.parentElement
  while (getComputedStyle(place).overflowX === 'visible' && place !== document.body) place = place.parentElement
  const end = place.getBoundingClientRect().right + 1
  const parts = [table, ...table.querySelectorAll('td > *, th > *')]
  return place.clientWidth < 2 ? [] : parts.filter((part) => part.getBoundingClientRect().right > end)
    .map((part) => part.outerHTML.slice(0, 120))
})`

t.test('the console on a phone', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person } = await openDemo(t)
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const { body: [{ id }] } = await call('GET', `${baseUrl}/shops/${kettle.id}/products?limit=1&sort=name`, {
    headers: { 'x-api-key': kettle.api_key }
  })
  const shop = '/console/shops/copper-kettle'
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'), shop)
  const ada = await signIn(browser, baseUrl, person('ada'))
  const isInView = async (name: string) =>
    await comesTrue(
      kim,
      `[...document.querySelectorAll('main button')].some((button) => button.textContent.trim() === '${name}' && ` +
        'button.getBoundingClientRect().bottom <= innerHeight && button.getBoundingClientRect().top > 0)'
    )

  await t.test('Save is in reach wherever one is in a form', async (t) => {
    await kim.setViewportSize({ width: 360, height: 740 })
    for (const path of [`/products/${id}`, '/products/create']) {
      await goWithin(kim, shop + path)
      t.ok(await isInView('Save'), path)
      await kim.getByLabel('Description').focus()
      t.ok(await isInView('Save'), `${path}, further down`)
    }
  })

  for (const width of WIDTHS) {
    await t.test(`rows fold at ${width} px, and stay rows of a table to a screen reader`, async (t) => {
      for (
        const [page, path, row] of [
          [kim, `${shop}/products`, 'Assam Loose Leaf 100 g'],
          [kim, `${shop}/orders`, undefined],
          [kim, `${shop}/api-keys`, undefined],
          [kim, `${shop}/accounts`, 'Alma Brandt'],
          [kim, `${shop}/members`, 'Kim Kettle'],
          [kim, `${shop}/attributes`, 'Color'],
          [kim, `${shop}/products/${id}`, undefined],
          [ada, '/console/admin/shops', 'Copper Kettle'],
          [ada, '/console/admin/admin/users', undefined],
          [ada, '/console/admin/pay-keys', 'Copper Kettle'],
          [ada, '/console/admin', 'Copper Kettle']
        ] as const
      ) {
        await page.setViewportSize({ width, height: 860 })
        await goWithin(page, path)
        if (row !== undefined) await page.getByRole('rowheader', { name: row }).first().waitFor()
        await page.waitForLoadState('networkidle')
        t.ok(await comesTrue(page, `${BEYOND}.length === 0`), path)
        t.strictSame(await page.evaluate(BEYOND), [], path)
        t.strictSame(await violations(page), [], path)
      }
    })
  }

  await t.test('the price of a product is seen beside a menu that is open', async (t) => {
    await kim.setViewportSize({ width: 768, height: 860 })
    await goWithin(kim, `${shop}/products`)
    const price = kim.getByRole('cell', { name: '$11.00', exact: true }).first()
    await price.waitFor()
    const { x, width } = (await price.boundingBox())!
    t.ok(x >= 0 && x + width <= 768)
  })

  await t.test('names of categories break between words, and Edit is no finger away from Delete', async (t) => {
    await kim.setViewportSize({ width: 360, height: 740 })
    await goWithin(kim, `${shop}/categories`)
    const name = kim.getByText('Brewers', { exact: true })
    await name.waitFor()
    t.ok((await name.boundingBox())!.height < 30, 'in one line')
    const [edit, remove] = await Promise.all(
      ['Edit Brewers', 'Delete Brewers'].map(async (name) => (await kim.getByRole('button', { name }).boundingBox())!)
    )
    t.ok(remove!.x - (edit!.x + edit!.width) >= 24)
  })

  await t.test('what can be done with selected products covers no search and no filter', async (t) => {
    for (const width of [1280, 360]) {
      await kim.setViewportSize({ width, height: 860 })
      await goWithin(kim, `${shop}/tags`)
      await goWithin(kim, `${shop}/products`)
      await kim.getByRole('checkbox', { name: /^Select Assam/ }).check()
      await kim.getByRole('button', { name: 'Set status' }).waitFor()
      t.ok(await isInView('Set status'), `${width} px: it is in reach`)
      const covered =
        `[...document.querySelectorAll('main [role=group] button, main input[name=q]')].filter((field) => {
        const { left, top, width, height } = field.getBoundingClientRect()
        return [top + 2, top + height - 2].some((y) => {
          const hit = document.elementFromPoint(left + width / 2, y)
          return !field.contains(hit) && !hit.contains(field)
        })
      }).map((field) => field.outerHTML.slice(0, 120))`
      t.ok(await comesTrue(kim, `${covered}.length === 0`), `${width} px`)
      t.strictSame(await kim.evaluate(covered), [])
      await kim.getByRole('checkbox', { name: /^Select Assam/ }).uncheck()
    }
  })
  t.strictSame([faultsOf.get(kim), faultsOf.get(ada)], [[], []])
})
