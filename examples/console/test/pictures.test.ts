import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Frame, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'
import { viewHost } from './view-host.ts'

/** What the documentation shows, and what stands on each picture. `npm run lab pictures` takes all of them again. */
const FOLDER = new URL('../../../docs/console/', import.meta.url)
/** A package has the pictures of its own pages, so that they are there where only the package is installed. */
const OF_PACKAGES: Readonly<Record<string, URL>> = {
  'view-products': new URL('../../../packages/mcp-from-routes/docs/', import.meta.url)
}
const MANIFEST = new URL('pictures.json', FOLDER)
const isTaking = process.env['PICTURES'] !== undefined
const WIDTH = 1280

interface Picture {
  readonly width: number
  readonly height: number
  readonly text: readonly string[]
}
const stored: Readonly<Record<string, Picture>> = existsSync(MANIFEST) ? JSON.parse(readFileSync(MANIFEST, 'utf8')) : {}

/**
 * All visible text, fields last, but that of charts, whose scales depend on how fast the machine is, and what a screen
 * reader is told as the page goes on.
 */
const TEXT = `(() => {
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), text = []
  const isText = (element) => element.closest('svg, style, script, noscript, body > [aria-live]') === null &&
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  while (nodes.nextNode()) {
    const { parentElement, data } = nodes.currentNode
    if (/[^\\s\\u200b]/.test(data) && isText(parentElement)) text.push(data.trim())
  }
  const fields = [...document.querySelectorAll('input[type=text]')]
  return [...text, ...fields.map(({ value, placeholder }) => value || placeholder)]
})()`

/** What differs from one demo to the next. */
const withoutTimes = (text: string): string =>
  text
    .replace(/[A-Z][a-z]{2} \d{1,2}, \d{4}(?:, \d{1,2}:\d\d(?::\d\d)?\s[AP]M(?: [A-Z]{3,4}\b)?)?/g, '(time)')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)')
    .replace(/^(?:\d+ \w+ ago|now|yesterday|last \w+)$/, '(time)')
    .replace(/localhost:\d+/g, 'localhost:8080')
    .replace(/\d+(?:\.\d+)? ms/g, '(n) ms')

t.test('the pictures of the documentation show what the pages show', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person } = await openDemo(t, {
    MCP_VIEWS_ENABLED: 'true',
    ...isTaking && { PORT: '8080' }
  })
  const shop = '/console/shops/copper-kettle'
  const browser = await openBrowser(t)
  const secrets = demo.shops.map(({ api_key: key }) => key)
  const taken: Record<string, Picture> = {}

  /** Compares a screen with its picture, or takes it. What is said of it may stand in a frame of it. */
  const picture = async (
    t: Test,
    page: Page,
    name: string,
    height: number,
    frame: Page | Frame = page
  ): Promise<void> => {
    await page.setViewportSize({ width: WIDTH, height })
    await page.mouse.move(0, 0)
    t.ok(
      await comesTrue(page, "document.querySelector('.MuiSkeleton-root, .RaLoadingIndicator-loader') === null"),
      'it has all of its data'
    )
    await page.waitForLoadState('networkidle')
    const hidden = secrets.flatMap((key) => [key, key.split('_')[1]!])
    const text = (await frame.evaluate<string[]>(TEXT)).map((line) =>
      withoutTimes(hidden.reduce((line, secret) => line.replaceAll(secret, '(key)'), line))
    )
    const file = new URL(`${name}.png`, OF_PACKAGES[name] ?? FOLDER)
    if (isTaking) writeFileSync(file, await page.screenshot({ animations: 'disabled' }))
    taken[name] = { width: WIDTH, height, text }
    // A PNG file begins with its size.
    const png = readFileSync(file)
    t.strictSame([png.readUInt32BE(16), png.readUInt32BE(20)], [WIDTH, height], 'the file has its size')
    t.ok(png.length < 125_000, `${png.length} bytes`)
    if (!isTaking) t.strictSame(taken[name], stored[name], 'npm run lab pictures takes it again')
  }

  const kim = await signIn(
    browser,
    baseUrl,
    person('kim'),
    `${shop}/api-keys?filter=${encodeURIComponent('{"q":"Spring"}')}`
  )
  let key = ''

  await t.test('a new key', async (t) => {
    await kim.getByRole('button', { name: 'New key' }).click()
    await kim.getByRole('dialog').getByLabel(/^Name/).fill('Spring prices')
    await kim.getByLabel(/^Read and change the catalog/).check()
    await kim.getByRole('button', { name: 'Create the key' }).click()
    const ready = kim.getByRole('dialog', { name: 'Your key is ready' })
    key = (await ready.getByText(/^shop_\w+$/).innerText()).trim()
    secrets.push(key)
    await picture(t, kim, 'key', 720)
    await ready.getByRole('button', { name: 'Copy' }).first().click()
    await kim.getByRole('button', { name: 'Done' }).click()
  })

  await t.test('what an agent changed', async (t) => {
    const send = async (method: string, params: object) =>
      (await call('POST', demo.mcp_url, {
        headers: { 'x-api-key': key, accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method, params }
      })).body.result
    const tool = async (name: string, args: object) => await send('tools/call', { name, arguments: args })
    await send('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'claude-code', title: 'Claude Code', version: '2.1.330' }
    })
    // The calls of the front page, and some more: the demo itself has none of the latest changes.
    const { structuredContent: { result: [kettle] } } = await tool('list_products', {
      filter: { q: 'gooseneck kettle, copper' }
    })
    const { structuredContent: { result: braisers } } = await tool('list_products', {
      filter: { q: 'braiser' },
      sort: 'name'
    })
    for (const { id, price_amount: amount } of braisers.slice(0, 2)) {
      await tool('update_product', { product_id: id, price_amount: amount + 500 })
    }
    await tool('create_tag', { name: 'Spring' })
    t.match(await tool('update_product', { product_id: kettle.id, price_amount: '79.00' }), { isError: true })
    t.match(await tool('update_product', { product_id: kettle.id, price_amount: 7900 }), {
      structuredContent: { price_amount: 7900 }
    })
    await goWithin(kim, `${shop}/history?filter={"actor_kind":["api-key"],"action":["update"]}`)
    const newest = kim.getByRole('listitem').filter({ hasText: kettle.name })
    await newest.getByRole('button', { name: /^Details/ }).click()
    await newest.getByRole('cell', { name: '$79.00' }).waitFor()
    await picture(t, kim, 'activity', 720)
  })

  await t.test('the home of a shop', async (t) => {
    await goWithin(kim, shop)
    await kim.getByText(/^\d+ tool calls in the last 24 hours/).waitFor()
    await picture(t, kim, 'home', 860)
  })

  await t.test('what a key was used for', async (t) => {
    await kim.getByRole('link', { name: '1 error of Spring prices' }).click()
    await kim.getByRole('heading', { level: 1, name: 'Spring prices' }).waitFor()
    await kim.getByText('Arguments', { exact: true }).click()
    await kim.getByRole('region', { name: 'Latest changes' }).getByRole('listitem').first().waitFor()
    await kim.setViewportSize({ width: WIDTH, height: 600 })
    await kim.evaluate('scrollTo(0, document.body.scrollHeight)')
    await picture(t, kim, 'key-calls', 600)
  })

  await t.test('its products', async (t) => {
    await goWithin(kim, `${shop}/products?filter={"q":"teapot"}`)
    await kim.getByRole('row').nth(6).waitFor()
    await picture(t, kim, 'products', 720)
  })

  await t.test('a view of products in a host', async (t) => {
    const show = await viewHost(t, browser)
    const { page, view } = await show({
      mcpUrl: demo.mcp_url,
      key: demo.shops.find(({ slug }) => slug === 'copper-kettle')!.api_key,
      tool: 'list_products',
      args: { filter: { q: 'teapot' }, limit: 6 },
      width: WIDTH
    })
    t.ok(
      await comesTrue(
        view,
        'document.images.length === 6 && [...document.images].every(({ naturalWidth }) => naturalWidth > 0)'
      ),
      'its pictures are there'
    )
    await picture(t, page, 'view-products', 480, view)
  })

  await t.test('a reconciliation run', async (t) => {
    const ada = await signIn(browser, baseUrl, person('ada'), '/console/admin/reconciliation')
    await ada.getByRole('button', { name: 'Start', exact: true }).click()
    await ada.getByText(/· Done/).waitFor()
    await ada.getByRole('button', { name: /^Data differs \(/ }).click()
    await ada.getByText('old.chiara.donati@example.com').waitFor()
    await picture(t, ada, 'reconciliation', 860)
  })

  if (isTaking) writeFileSync(MANIFEST, `${JSON.stringify(taken, null, 2)}\n`)
  else t.strictSame(Object.keys(stored).toSorted(), Object.keys(taken).toSorted())
})
