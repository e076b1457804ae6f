import { readFileSync, writeFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, goWithin, inColours, openPage, type Person, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

/** What a screen reader finds on each screen. `SCREENS=write` before the test writes it. */
const SCREENS = new URL('screens.yml', import.meta.url)
const expected = new Map(
  process.env['SCREENS'] === 'write'
    ? []
    : readFileSync(SCREENS, 'utf8').split(/^# /m).slice(1).map((part) =>
      [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)] as const
    )
)
const found = new Map<string, string>()

/** Narrow phones, a window at 200 %, and a large screen. */
const WIDTHS = [320, 400, 640, 1280, 1920]

/** Most presses of Tab on a screen. */
const MOST = 400

/** How many equal siblings of a screen are written down. */
const ALIKE = 2

/** Screens that read nothing of the server, and one that first writes. */
const READ_NOTHING = ['New tag', 'New attribute', 'No such page', 'New shop', 'A run']

/** What says that there is nothing. */
const NOTHING = /\b0\b|^(?:No |None|Nobody|Nothing)|\bnone\b|\bno [a-z]+ yet/

/** The demo and a browser, for both tests. */
const open = async () => {
  const opened = await openDemo(t)
  return { ...opened, browser: await openBrowser(t) }
}
let opened: ReturnType<typeof open> | undefined

t.test('every screen of the console by keyboard and screen reader, on screens of every width', {
  skip: withoutChromium
}, async (t) => {
  const { baseUrl, demo, browser, person, headersOf } = await (opened ??= open())
  const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const reads = async (headers: object, path: string) =>
    (await call('GET', `${baseUrl}/shops/${kettle.id}/${path}`, { headers: { ...headers } })).body
  // An agent has been here, on every database.
  await reads({ 'x-api-key': kettle.api_key }, 'tags')
  const asKim = await headersOf('kim')
  while (!(await reads(asKim, 'history?filter={"operation":"api_key.first_used"}')).length) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const kim = await signIn(browser, baseUrl, person('kim'))
  const ada = await signIn(browser, baseUrl, person('ada'))
  const { body: { id: noorId } } = await call('GET', `${baseUrl}/me`, {
    headers: await headersOf('noor')
  })
  const titles = new Set<string>()

  /** Opens the page of the first record of a list by its link. */
  const firstOf = (list: string) => async (page: Page) => {
    await goWithin(page, list)
    await page.evaluate("old = document.querySelector('h1')")
    await page.locator('tbody a').first().focus()
    await page.keyboard.press('Enter')
    await comesTrue(page, "!old.isConnected && document.querySelector('h1') !== null")
  }
  const shop = '/console/shops/copper-kettle'
  /** Imports a line, and one that fails. */
  const imported = async (): Promise<string> => {
    const query = 'skip_invalid=true&file_name=teas.jsonl'
    const response = await fetch(`${baseUrl}/shops/${kettle.id}/imports?${query}`, {
      method: 'POST',
      headers: { ...asKim, 'content-type': 'application/x-ndjson' },
      body: '{"name":"Sencha","status":"draft"}\n{"name":"Gyokuro","status":"brewing"}\n'
    })
    const { id } = await response.json() as { readonly id: string }
    while ((await reads(asKim, `imports/${id}`)).finished_at === null) {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return id
  }
  const screens: ReadonlyArray<readonly [name: string, page: Page, path: string | ((page: Page) => Promise<void>)]> = [
    ...[
      ['Products', '/products'],
      ['Home', ''],
      ['New product', '/products/create'],
      ['Imports', '/imports'],
      ['Categories', '/categories'],
      ['Tags', '/tags'],
      ['New tag', '/tags/create'],
      ['Attributes', '/attributes'],
      ['New attribute', '/attributes/create'],
      ['API keys', '/api-keys'],
      ['Activity', '/history'],
      ['Orders', '/orders'],
      ['Each change', '/history?filter={}'],
      ['Accounts', '/accounts'],
      ['Members', '/members'],
      ['Connected apps', '/apps'],
      ['Settings', '/settings'],
      ['No such page', '/nothing/here']
    ].map(([name, path]) => [name!, kim, shop + path] as const),
    ...[['A product', '/products'], ['A key', '/api-keys'], ['A tag', '/tags'], ['An attribute', '/attributes'], [
      'An order',
      '/orders'
    ], ['An account', '/accounts']].map(([name, list]) => [name!, kim, firstOf(shop + list)] as const),
    ...[
      ['Shops', '/shops'],
      ['Home of admins', ''],
      ['Unlinked customers', '/unlinked-customers'],
      ['Changes', '/audit'],
      ['Payment keys', '/pay-keys'],
      ['New shop', '/shops/create'],
      ['People', '/admin/users'],
      ['Apps of a person', `/admin/users/${noorId}/apps`]
    ].map(([name, path]) => [name!, ada, `/console/admin${path}`] as const),
    ['A shop', ada, firstOf('/console/admin/shops')],
    ['A run', ada, async (page) => {
      await goWithin(page, '/console/admin/reconciliation')
      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.getByText(/· Done/).waitFor()
      // One account: others are in the order in which they were checked.
      await page.getByRole('button', { name: 'Customer not found (1)' }).click()
      await page.getByText('1–1 of 1').waitFor()
      await page.getByRole('heading', { level: 1 }).focus()
    }],
    ['Runs', ada, '/console/admin/reconciliation'],
    // Last: what it changes is on other screens, too.
    ['An import', kim, async (page) => await goWithin(page, `${shop}/imports/${await imported()}`)]
  ]

  for (const [name, page, path] of screens) {
    await t.test(`${name}: its title, its heading, its order, its names, its widths`, async (t) => {
      const isRead = !READ_NOTHING.includes(name)
      // The first reads fail, with a status that is not tried again by itself.
      const reads = (url: URL) => /^\/(?:shops|admin|oauth\/grants)(?:\/|$)/.test(url.pathname)
      if (isRead) {
        await page.route(reads, async (route) =>
          route.request().method() === 'GET'
            ? await route.fulfill({ status: 500, json: { message: 'Out of order' } })
            : await route.continue())
      }
      if (typeof path === 'string') await goWithin(page, path)
      else await path(page)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (isRead) {
        const failed = page.getByRole('alert').filter({ hasText: 'Out of order' })
        await failed.waitFor()
        const none = (await page.locator('#main-content').innerText()).split('\n').filter((line) => NOTHING.test(line))
        if (process.env['SHOTS'] !== undefined) {
          await page.screenshot({ path: `${process.env['SHOTS']}/${name.replaceAll(' ', '-')}-failed.png` })
        }
        await page.unroute(reads)
        await failed.getByRole('button', { name: 'Try again' }).click()
        await failed.waitFor({ state: 'detached' })
        const read = await page.locator('#main-content').innerText()
        t.strictSame(none.filter((line) => !read.includes(line)), [], 'what could not be read is not shown as none')
      }
      t.ok(
        await comesTrue(page, "document.querySelector('main .MuiSkeleton-root, .RaLoadingIndicator-loader') === null"),
        'it has all of its data'
      )
      await page.waitForLoadState('networkidle')
      const title = await page.title()
      t.match(title, / · (?:Copper Kettle|Administration) · Shop console$/)
      t.notOk(titles.has(title), `another screen is "${title}" too`)
      titles.add(title)
      t.equal(
        await page.evaluate("document.activeElement?.localName + ': ' + document.querySelectorAll('h1').length"),
        'h1: 1',
        'one heading, which has the focus'
      )
      t.equal(
        await page.getByRole('navigation', { name: 'Shop console' }).locator('[aria-current=page]').count(),
        ['No such page', 'Connected apps'].includes(name) ? 0 : 1,
        'the menu says where we are'
      )
      const written = await reading(page, expected.get(name))
      found.set(name, written)
      t.equal(written, expected.get(name) ?? written)
      t.strictSame(await obscured(page), [], 'nothing has the focus that cannot be seen')
      t.strictSame(await violations(page), [])
      for (const colours of ['dark', 'light'] as const) {
        await inColours(page, colours)
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 860 })
          t.ok(
            await comesTrue(
              page,
              'document.documentElement.scrollWidth <= document.documentElement.clientWidth && ' +
                "document.querySelector('header').offsetHeight < 70"
            ),
            `${width} px, ${colours}: nothing is beside the page, and the bar has one line`
          )
          if (colours === 'light') await comesTrue(page, `${CROWDED}.length === 0`)
          if (colours === 'light') {
            t.strictSame(await page.evaluate(CROWDED), [], `${width} px: icons lie beside texts, and SKUs are whole`)
          }
          if (process.env['SHOTS'] !== undefined) {
            await page.screenshot({
              path: `${process.env['SHOTS']}/${name.replaceAll(' ', '-')}-${width}-${colours}.png`
            })
          }
          // Only colours are others, and on a phone some elements.
          if (width === 400) t.strictSame(await violations(page, ['color-contrast']), [], `${colours}, on a phone`)
        }
      }
      await page.setViewportSize({ width: 1280, height: 860 })
    })
  }

  if (process.env['SCREENS'] === 'write') {
    writeFileSync(
      SCREENS,
      [...found].map(([name, text]) => `# ${name}\n${text}`).join('')
    )
  } else t.strictSame([...expected.keys()], [...found.keys()], 'screens.yml has no others')
  t.strictSame([faultsOf.get(kim), faultsOf.get(ada)], [[], []])
})

t.test('a person with only a keyboard lets an agent in, takes back what it did, and mends the accounts', {
  skip: withoutChromium
}, async (t) => {
  const { baseUrl, demo, browser, person } = await (opened ??= open())
  const kim = await openPage(browser, baseUrl)
  await signInByKeyboard(kim, person('kim'))
  let key = ''

  await t.test('the first press of Tab offers to skip the menu, and can be read', async (t) => {
    await kim.getByRole('heading', { level: 1 }).waitFor()
    await kim.keyboard.press('Tab')
    const skip = kim.getByRole('button', { name: 'Skip to content' })
    t.ok(await hasFocus(skip))
    t.ok(await comesTrue(kim, 'document.activeElement.getBoundingClientRect().top >= 0'))
    t.strictSame(await violations(kim, ['color-contrast']), [])
    await kim.keyboard.press('Enter')
    await kim.keyboard.press('Tab')
    t.ok(
      await hasFocus(kim.locator('#main-content').getByRole('link', { name: /^Products/ })),
      'what follows is the page'
    )
  })

  await t.test('they make a key', async (t) => {
    await press(kim.getByRole('navigation').getByRole('link', { name: 'API keys' }))
    t.ok(await hasFocus(kim.getByRole('heading', { level: 1, name: 'API keys' })))
    await press(kim.getByRole('button', { name: 'New key' }))
    await kim.getByRole('dialog').getByLabel(/^Name/).waitFor()
    await kim.keyboard.type('Spring prices')
    await tabTo(kim.getByLabel(/^Read the catalog/))
    await kim.keyboard.press('ArrowDown')
    await press(kim.getByRole('button', { name: 'Create the key' }))
    await press(kim.getByRole('dialog', { name: 'Your key is ready' }).getByRole('button', { name: 'Copy' }).first())
    await kim.getByText('Copied', { exact: true }).waitFor()
    key = await kim.evaluate('navigator.clipboard.readText()')
    t.match(key, /^shop_/)
    await press(kim.getByRole('button', { name: 'Done' }))
  })

  const tool = async (name: string, args: object) =>
    (await call('POST', demo.mcp_url, {
      headers: { 'x-api-key': key, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    })).body.result
  const products = async (): Promise<ReadonlyArray<{ readonly id: string, readonly price_amount: number }>> =>
    (await tool('list_products', { filter: { q: 'Cream' }, sort: 'name' })).structuredContent.result.slice(0, 5)

  await t.test('and undo all that the agent did with it', async (t) => {
    const before = await products()
    for (const { id, price_amount: amount } of before) {
      t.notOk((await tool('update_product', { product_id: id, price_amount: amount + 100 })).isError)
    }
    t.ok((await tool('update_product', { price_amount: 'cheap' })).isError)
    await press(kim.getByRole('link', { name: 'Spring prices' }))
    await press(kim.getByText('Arguments', { exact: true }))
    await kim.getByText('"price_amount": "cheap"').waitFor()
    await kim.getByRole('heading', { level: 1, name: 'Spring prices' }).focus()
    await press(kim.getByRole('button', { name: 'Undo its changes' }))
    await press(kim.getByRole('button', { name: 'Check' }))
    await kim.getByText('5 changes will be undone.').waitFor()
    t.ok(await comesTrue(kim, "document.activeElement.textContent === 'Check'"), 'what was busy has the focus again')
    await press(kim.getByRole('button', { name: 'Undo now' }))
    await kim.getByText('5 changes undone').waitFor()
    t.strictSame(
      (await products()).map((product) => product.price_amount),
      before.map((product) => product.price_amount)
    )
  })

  await t.test('an admin checks the accounts, and mends one', async (t) => {
    const ada = await openPage(browser, baseUrl)
    await signInByKeyboard(ada, person('ada'))
    await press(ada.getByRole('navigation').getByRole('link', { name: 'Runs' }))
    await press(ada.getByRole('button', { name: 'Start', exact: true }))
    await ada.getByText(/· Done/).waitFor()
    t.ok(await hasFocus(ada.getByRole('heading', { level: 1 })))
    const row = ada.getByRole('listitem').filter({ hasText: 'Chiara Donati' })
    await press(row.getByRole('button', { name: 'Take over' }), 'Space')
    await row.getByText('Taken over').waitFor()
    t.strictSame(faultsOf.get(ada), [])
  })
  t.strictSame(faultsOf.get(kim), [])
})

async function signInByKeyboard (page: Page, { username, password }: Person): Promise<void> {
  await tabTo(page.locator('#username'))
  await page.keyboard.type(username)
  await tabTo(page.locator('#password'))
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.waitForSelector('header')
}

async function hasFocus (target: Locator): Promise<boolean> {
  return await target.evaluate((element: any) => element === element.ownerDocument.activeElement)
}

/** Presses Tab until the element has the focus. @throws if it never has */
async function tabTo (target: Locator): Promise<void> {
  for (let presses = 0; presses < MOST; presses++) {
    if (await hasFocus(target)) return
    await target.page().keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${String(target)}`)
}

/** Does what an element is there for. */
async function press (target: Locator, by: 'Enter' | 'Space' = 'Enter'): Promise<void> {
  await tabTo(target)
  await target.page().keyboard.press(by)
}

/** Whether nothing covers or hides what has the focus. */
const IS_SEEN = `(() => {
  const element = document.activeElement
  const { left, top, width, height } = element.getBoundingClientRect()
  const hit = document.elementFromPoint(left + width / 2, top + height / 2)
  const isSeen = width > 0 && height > 0 && hit !== null &&
    (element.contains(hit) || hit.contains(element) || element.closest('label')?.contains(hit))
  // The keys of a chart go to what lies over it.
  return isSeen || getComputedStyle(element).pointerEvents === 'none'
})()`

/**
 * Labels and placeholders of text fields that run into the icon or unit beside them, SKUs in two lines, and on a
 * desktop tables that end beyond their place.
 */
const CROWDED = `(() => {
  const rangeOf = (node, start, end) => {
    const range = document.createRange()
    range.setStart(node, start)
    range.setEnd(node, end)
    return range
  }
  const context = document.createElement('canvas').getContext('2d')
  const faults = []
  for (const adornment of document.querySelectorAll('.MuiTextField-root .MuiInputAdornment-positionEnd')) {
    const field = adornment.closest('.MuiTextField-root')
    const input = field.querySelector('input'), label = field.querySelector('label')
    const { left, top } = adornment.getBoundingClientRect()
    const { font, paddingLeft, textOverflow } = getComputedStyle(input)
    context.font = font
    const end = input.getBoundingClientRect().left + parseFloat(paddingLeft) +
      context.measureText(input.placeholder).width
    if (input.value === '' && end > left && textOverflow !== 'ellipsis') faults.push(input.placeholder)
    const text = label && rangeOf(label, 0, label.childNodes.length).getBoundingClientRect()
    if (text && text.right > left && text.bottom > top + 1) faults.push(label.textContent)
  }
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const node = texts.currentNode
    for (const { 0: sku, index } of node.data.matchAll(/\\b[A-Z]{2,3}-\\d+/g)) {
      if (rangeOf(node, index, index + sku.length).getClientRects().length > 1) faults.push(sku)
    }
  }
  for (const table of innerWidth < 1280 ? [] : document.querySelectorAll('main table')) {
    let place = table.parentElement
    while (getComputedStyle(place).overflowX === 'visible' && place !== document.body) place = place.parentElement
    // Some are for screen readers only.
    if (place.clientWidth > 1 && table.scrollWidth > place.clientWidth + 1) {
      faults.push('a table of ' + table.scrollWidth + ' px in ' + place.clientWidth)
    }
  }
  return faults
})()`

/** Goes through a screen by Tab. @returns the elements that had the focus and stayed covered or hidden */
async function obscured (page: Page): Promise<readonly string[]> {
  const hidden: string[] = []
  await page.evaluate('document.activeElement.blur(); seen = new Set([document.body])')
  for (let presses = 0; presses < MOST; presses++) {
    await page.keyboard.press('Tab')
    if (!await page.evaluate('seen.size < seen.add(document.activeElement).size')) return hidden
    // Parts that come later move the others.
    if (!await comesTrue(page, IS_SEEN)) {
      hidden.push(await page.evaluate('document.activeElement.outerHTML.slice(0, 200)'))
    }
  }
  return [...hidden, `more than ${MOST} elements`]
}

/** What a screen reader finds. Parts of a page come by themselves: they get two seconds. */
async function reading (page: Page, expected: string | undefined): Promise<string> {
  for (let tries = 1;; tries++) {
    const written = readable(await page.locator('#main-content').ariaSnapshot())
    if (written === expected || tries === 20) return written
    await page.waitForTimeout(100)
  }
}

/** The tree with what differs by run replaced, and only the first of many that are alike. */
function readable (tree: string): string {
  // What was used depends on what was looked at before.
  const used = tree.replace(
    /(- row "[A-Z][a-z]{2} \d{1,2}, \d{4})(?: [\d,]+){3}":(?:\n\s+- (?:rowheader|cell) "[^"]*")+/g,
    '$1 COUNTS"'
  )
    .replace(/(- row "Demo)(?: [\d,]+){3}":[^]*?(?:\n\s+- cell "[\d,]+"){3}/g, '$1 COUNTS"')
  const lines = used.split('\n').map((line) =>
    line
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID')
      .replace(/\b[0-9a-f]{8}\b/g, 'ID')
      .replace(/\w+…/g, 'PREFIX')
      .replace(
        /\b[A-Z][a-z]{2} \d{1,2}, \d{4}(?:, \d{1,2}:\d{2}(?::\d{2})?\s[AP]M(?: (?:[A-Z]{3,5}|GMT[+-]\d+))?)?/g,
        'TIME'
      )
      .replace(/\b(?:\d+ \w+ ago|in \d+ \w+|now|yesterday|tomorrow)\b/g, 'AGO')
      .replace(/\d[\d.,]* (?:ms|s)\b/g, 'DURATION')
  )
  return lines.filter((line) => !/^\s*- \/url:/.test(line)).filter(fewAlike()).join('\n') + '\n'
}

/** Leaves out what is below the second sibling of a kind, such as rows, items and columns of charts. */
function fewAlike (): (line: string) => boolean {
  let [omitted, counts]: [number, Array<readonly [depth: number, role: string, count: number]>] = [Infinity, []]
  return (line) => {
    const [, space = '', role = ''] = /^(\s*)- '?(\w+)/.exec(line) ?? []
    const depth = space.length
    if (depth > omitted) return false
    omitted = Infinity
    counts = counts.filter(([other]) => other <= depth)
    const [last] = counts.filter(([other, name]) => other === depth && name === role)
    counts = [...counts.filter((entry) => entry !== last && entry[0] !== depth), [depth, role, (last?.[2] ?? 0) + 1]]
    if (!['row', 'listitem', 'text'].includes(role) || (last?.[2] ?? 0) < ALIKE + 1) return true
    omitted = depth
    return false
  }
}
