import t from 'tap'
import type { Page } from 'playwright-core'
import english from 'ra-language-english'
import { call } from '../../shop/test/process.ts'
import { PHRASES } from '../src/german/phrases.ts'
import { german } from '../src/german/texts.ts'
import { texts } from '../src/texts.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { answer, comesTrue, faultsOf, goWithin, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

function stringsIn (object: unknown): readonly string[] {
  if (typeof object === 'string') return [object]
  return typeof object === 'object' && object !== null ? Object.values(object).flatMap(stringsIn) : []
}

/** What is English, and no German text too: of the console, of react-admin, and what MUI says by itself. */
const SPOKEN = new Set([...stringsIn(german), ...stringsIn(PHRASES)])
const ENGLISH = [
  ...stringsIn(texts),
  ...stringsIn(english.ra),
  ...['Open', 'Close', 'Clear', 'No options', 'Loading…', 'No data to display', 'Loading data…']
].filter((text) => text.trim() !== '' && !SPOKEN.has(text))

/** All that is seen and heard on the page, besides what people call their products. */
const SAID = `(() => {
  const found = []
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (nodes.nextNode()) {
    if (nodes.currentNode.parentElement.closest('script, style, noscript, textarea') === null) {
      found.push(nodes.currentNode.textContent)
    }
  }
  for (const element of document.querySelectorAll('*')) {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'data-label']) {
      found.push(element.getAttribute(name) ?? '')
    }
  }
  return [...new Set(found.map((text) => text.trim()))].filter((text) => text !== '')
})()`

/** Words that stand in English sentences, and in no name of the demo. */
const WORDS =
  /\b(the|not|are|were|with|calls?|products?|changed|created|deleted|ago|yesterday|Delete|Remove|Move|Show|Select)\b/

const isEnglish = (text: string): boolean => ENGLISH.includes(text) || WORDS.test(text)

async function englishOn (page: Page): Promise<readonly string[]> {
  await page.waitForLoadState('networkidle')
  return (await page.evaluate<readonly string[]>(SAID)).filter(isEnglish)
}

/** Opens the menu of the person, and goes on in the language that it names. */
async function changeLanguage (page: Page, menu: string, language: string): Promise<void> {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitem', { name: language, exact: true }).click()
}

t.test('the console in German', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person, headersOf } = await openDemo(t)
  const { id: shopId } = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const headers = await headersOf('kim')
  const first = async (list: string) =>
    (await call('GET', `${baseUrl}/shops/${shopId}/${list}?limit=1`, { headers })).body[0].id as string
  const [product, key, order] = await Promise.all(['products', 'api-keys/', 'orders'].map(first))
  const shop = '/console/shops/copper-kettle'
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'), shop, 'de-DE')
  const ada = await signIn(browser, baseUrl, person('ada'), '/console', 'de-CH')
  const isSpoken = async (language: string) => await comesTrue(kim, `document.documentElement.lang === '${language}'`)

  await t.test('no main screen says anything in English, scrolls sideways on a phone, or breaks a rule', async (t) => {
    t.strictSame(['Orders', '5 minutes ago', 'Bestellungen', 'vor 5 Minuten'].map(isEnglish), [
      true,
      true,
      false,
      false
    ])
    t.ok(await isSpoken('de'))
    for (
      const [page, path] of [
        ...[
          '',
          '/products',
          `/products/${product}`,
          '/products/create',
          '/imports',
          '/categories',
          '/tags',
          '/attributes',
          '/attributes/create',
          '/api-keys',
          `/api-keys/${key}`,
          '/history',
          '/history?filter=%7B%22action%22%3A%5B%22create%22%5D%7D',
          '/orders',
          `/orders/${order}/show`,
          '/accounts',
          '/members',
          '/settings',
          '/no-such-page'
        ].map((path) => [kim, shop + path] as const),
        ...[
          '',
          '/shops',
          '/shops/create',
          '/admin/users',
          '/reconciliation',
          '/unlinked-customers',
          '/audit',
          '/pay-keys'
        ].map((path) => [ada, `/console/admin${path}`] as const)
      ]
    ) {
      await page.setViewportSize({ width: 1280, height: 860 })
      await goWithin(page, path)
      t.strictSame(await englishOn(page), [], path)
      t.strictSame(await violations(page), [], path)
      await page.setViewportSize({ width: 360, height: 740 })
      t.ok(await comesTrue(page, 'document.documentElement.scrollWidth <= 360'), path)
    }
    await kim.setViewportSize({ width: 1280, height: 860 })
  })

  await t.test('a price is shown, typed and saved as Germans write it', async (t) => {
    await goWithin(kim, `${shop}/products/${product}`)
    const price = kim.getByLabel('Preis', { exact: true })
    await price.fill('1,999')
    await kim.getByRole('button', { name: 'Speichern' }).click()
    await kim.getByText('Bitte einen Preis in USD eingeben, zum Beispiel 19,99').waitFor()
    await price.fill('19,90')
    await kim.getByRole('button', { name: 'Speichern' }).click()
    await kim.getByText('Produkt gespeichert').waitFor()
    const { body } = await call('GET', `${baseUrl}/shops/${shopId}/products/${product}`, { headers })
    t.equal(body.price_amount, 1990)
    await goWithin(kim, `${shop}/products`)
    await kim.getByText('19,90\u00a0$').first().waitFor()
    await goWithin(kim, `${shop}/products/${product}`)
    t.equal(await price.inputValue(), '19,90')
  })

  await t.test('a confirmation names what it does in German', async (t) => {
    await kim.getByRole('button', { name: 'Löschen' }).click()
    const dialog = kim.getByRole('dialog', { name: /löschen\?$/ })
    await dialog.getByText('Unter „Aktivität“ lässt sich das rückgängig machen.').waitFor()
    t.strictSame(await englishOn(kim), [])
    await dialog.getByRole('button', { name: 'Zurück' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('what the server says is marked as English: what stands in the way of an undo', async (t) => {
    const { body: { id } } = await call('POST', `${baseUrl}/shops/${shopId}/tags`, {
      headers,
      body: { name: 'Einmal' }
    })
    await call('PATCH', `${baseUrl}/shops/${shopId}/tags/${id}`, { headers, body: { name: 'Zweimal' } })
    const filter = encodeURIComponent(JSON.stringify({ record_id: id, action: ['create'] }))
    await goWithin(kim, `${shop}/history?filter=${filter}`)
    await kim.getByRole('listitem').getByRole('button', { name: /^Rückgängig/ }).first().click()
    await kim.getByRole('dialog').locator('li [lang=en]').first().waitFor()
    await kim.keyboard.press('Escape')
    await goWithin(kim, `${shop}/products/${product}`)
  })

  await t.test('the menu changes the language, which stays, and asks before something typed is lost', async (t) => {
    await kim.getByRole('button', { name: 'Kim Kettle' }).click()
    t.strictSame(await englishOn(kim), [])
    // A menu is no part of a landmark, which only a best practice asks for.
    t.strictSame(await violations(kim, ['wcag2a', 'wcag2aa', 'wcag21aa']), [])
    await kim.getByRole('menuitem', { name: 'English', exact: true }).click()
    await kim.getByRole('button', { name: 'Save' }).waitFor()
    t.ok(await isSpoken('en'))
    t.equal(await kim.getByLabel('Price', { exact: true }).inputValue(), '19.90')
    await kim.reload()
    await kim.getByRole('button', { name: 'Save' }).waitFor()
    t.ok(await isSpoken('en'), 'after a reload')

    t.strictSame(faultsOf.get(kim), [])
    await kim.getByLabel('Price', { exact: true }).fill('20.00')
    await changeLanguage(kim, 'Kim Kettle', 'Deutsch')
    await answer(kim, 'Keep editing')
    t.ok(await comesTrue(kim, "document.querySelector('[role=menu]') === null"))
    t.strictSame(faultsOf.get(kim), [])
    t.equal(await kim.getByLabel('Price', { exact: true }).inputValue(), '20.00', 'nothing is lost')
    t.ok(await isSpoken('en'))
    await kim.getByLabel('Price', { exact: true }).fill('19.90')
    await changeLanguage(kim, 'Kim Kettle', 'Deutsch')
    await kim.getByRole('button', { name: 'Speichern' }).waitFor()
    t.ok(await isSpoken('de'))
  })
})
