import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { pictureFile } from '../src/samples/pictures.ts'
import { productsOf } from '../src/samples/products.ts'
import { demoShops } from '../src/samples/shops.ts'
import { PICTURES_PATH } from '../src/samples/picture-routes.ts'
import { BASE_URL, build, openIdentityProvider, openTestDatabase } from './build.ts'
import { joined } from '../../../test/joined.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const CONSOLE = { CONSOLE_ENABLED: true, IDP_CONSOLE_CLIENT_ID: 'console' }
const app = await build(t, database, idp, { settings: CONSOLE })

const settingsIn = (page: string) => JSON.parse(/<script[^>]* id="settings"[^>]*>(.*?)<\/script>/s.exec(page)![1]!)

t.test('each page has a policy and a nonce of its own, and is never stored', async (t) => {
  const pages = await Promise.all(
    ['/console', '/console/shops/a', '/console//evil.example', '/console/signed-in?state=x&error=<script>'].map(async (
      url
    ) => await app.inject(url))
  )
  const nonces = pages.map(({ headers }) =>
    /script-src 'nonce-([^']+)' 'strict-dynamic';style-src 'nonce-\1'/.exec(String(headers['content-security-policy']))
      ?.[1]
  )
  t.equal(new Set(nonces).size, pages.length)
  for (const [index, { statusCode, headers, body }] of pages.entries()) {
    t.match([statusCode, headers['cache-control'], headers['x-content-type-options']], [200, 'no-store', 'nosniff'])
    t.match(
      headers['content-security-policy'],
      /^default-src 'none';.*;img-src 'self' https:;.*require-trusted-types-for 'script'/
    )
    t.notMatch(headers['content-security-policy'], /unsafe|\*/)
    t.ok(body.includes(nonces[index]!))
    t.notMatch(body, /NONCE_OF_RESPONSE|error=|https?:\/\/[^"]*\.js"/)
  }
})

t.test('files are kept for a year; nothing outside of them is served', async (t) => {
  const [file] = readdirSync(fileURLToPath(import.meta.resolve('shop-console/assets'))).filter((name) =>
    name.endsWith('.js')
  )
  t.match(await app.inject(`/console/assets/${file!}`), {
    statusCode: 200,
    headers: {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': /^(text|application)\/javascript/
    }
  })
  // Plain dots are resolved before a request is sent.
  for (
    const path of [
      '..%2f..%2fpackage.json',
      '%2e%2e%2f%2e%2e%2fpackage.json',
      '..%5c..%5cpackage.json',
      '/etc/passwd',
      '%2fetc%2fpasswd',
      '%00',
      'missing.js'
    ]
  ) {
    const { statusCode, headers, body } = await app.inject(`/console/assets/${path}`)
    t.strictSame([statusCode, JSON.parse(body).code], [404, 'SHOP_ROUTE_NOT_FOUND'], path)
    t.equal(headers['cache-control'], 'no-store', path)
    t.notMatch(body, /"dependencies"|root:|<!doctype/, path)
  }
})

t.test('the page knows the settings of the server, and no secret', async (t) => {
  const { body } = await app.inject('/console')
  t.match(settingsIn(body), {
    origin: BASE_URL,
    connected_apps: false,
    sign_in: {
      client_id: 'console',
      scope: 'openid email profile',
      callback: `${BASE_URL}/console/signed-in`,
      parameters: { resource: BASE_URL }
    },
    pay_dashboard: 'https://dashboard.stripe.com/customers/',
    mcp: { url: `${BASE_URL}/mcp` }
  })
  t.notMatch(body, /p{32}|k{32}/)
  const other = await build(t, database, idp, {
    settings: { ...CONSOLE, PAY_API_URL: 'http://127.0.0.1:1', MCP_ENABLED: false, ALLOW_INSECURE: 'pay-stand-in' }
  })
  const settings = settingsIn((await other.inject('/console')).body)
  t.strictSame([settings.pay_dashboard, settings.mcp], [undefined, undefined], 'a stand-in has no pages for people')
})

t.test('pictures come from the hosts of the settings only', async (t) => {
  const narrow = await build(t, database, idp, {
    settings: { ...CONSOLE, CONSOLE_IMAGE_HOSTS: 'cdn.example.com,*.img.example.com:8443' }
  })
  t.match(
    (await narrow.inject('/console')).headers['content-security-policy'],
    /;img-src 'self' https:\/\/cdn\.example\.com https:\/\/\*\.img\.example\.com:8443;/
  )
})

t.test('each product of the demo has a picture in its color, which can do nothing', async (t) => {
  const wanted = demoShops.flatMap((shop) =>
    productsOf(shop).map((product) => ({
      ...product,
      url: `${PICTURES_PATH}/${shop.slug}/${pictureFile(product.name)}`
    }))
  )
  const drawn = await Promise.all(wanted.map(async ({ url }) => await app.inject(url)))
  const sent = drawn.map(({ statusCode, headers }) =>
    [
      statusCode,
      ...['content-type', 'cache-control', 'x-content-type-options', 'content-security-policy'].map((name) =>
        headers[name]
      )
    ].join()
  )
  t.strictSame([...new Set(sent)], [
    "200,image/svg+xml,public, max-age=86400,nosniff,default-src 'none';sandbox;frame-ancestors 'none'"
  ])
  const bodies = drawn.map(({ body }) => body)
  const picture = joined(
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^<]*>/,
    /(?:<(?:path|circle|ellipse) [^<>]*\/>|<g [^<>]*>|<\/g>)+<\/svg>\n$/
  )
  t.strictSame(
    bodies.filter((body) => !picture.test(body) || /on\w+=|href|url\(|undefined|NaN/.test(body)),
    []
  )
  for (const { model: { name, variants } } of wanted) {
    if (variants.length > 0) {
      t.equal(new Set(bodies.filter((_, index) => wanted[index]!.model.name === name)).size, variants.length, name)
    }
  }
  t.equal((await app.inject(wanted[0]!.url)).body, bodies[0], 'the same each time')
  for (
    const path of [
      'copper-kettle/missing.svg',
      'nowhere/gift-card.svg',
      'copper-kettle/gift-card',
      'copper-kettle/..%2fgift-card.svg',
      '__proto__/gift-card.svg'
    ]
  ) {
    t.match(
      await app.inject(`${PICTURES_PATH}/${path}`),
      { statusCode: 404, headers: { 'cache-control': 'no-store' } },
      path
    )
  }
})
