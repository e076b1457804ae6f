import type { Route } from 'playwright-core'
import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

t.test(
  'what goes wrong is said, and nothing that was typed is lost without a question',
  { skip: withoutChromium },
  async (t) => {
    const { baseUrl, demo, person, headersOf } = await openDemo(t)
    const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
    const api = async (method: string, path: string, body?: object) =>
      await call(method, `${baseUrl}/shops/${kettle.id}${path}`, {
        headers: { 'x-api-key': kettle.api_key },
        ...body !== undefined && { body }
      })
    const shop = '/console/shops/copper-kettle'
    const browser = await openBrowser(t)
    const kim = await signIn(browser, baseUrl, person('kim'))
    await t.test('all products are as many as the server lists, and the button says how many', async () => {
      for (let n = 0; n < 120; n += 1) await api('POST', '/products', { name: `Cup ${n}`, sku: `CUP-${n}` })
      await goWithin(kim, `${shop}/products?filter={}&perPage=25`)
      await kim.getByText(/^1-25 of /).waitFor()
      await kim.getByRole('checkbox', { name: 'Select all' }).check()
      await kim.getByRole('button', { name: 'Select the first 200' }).click()
      await kim.getByText('200 items selected').waitFor()
      await kim.getByRole('button', { name: 'Unselect' }).click()
    })

    await t.test('a change of many that stops midway says how many are changed, and which are not', async (t) => {
      await goWithin(kim, `${shop}/products?filter=${encodeURIComponent('{"q":"Braiser"}')}`)
      await kim.getByText('1-4 of 4').waitFor()
      await kim.getByRole('checkbox', { name: 'Select all' }).check()
      let changes = 0
      await kim.route('**/products/*', async (route) =>
        route.request().method() === 'PATCH' && ++changes === 3
          ? await route.fulfill({ status: 409, json: { message: 'Somebody else changes it' } })
          : await route.continue())
      await kim.getByRole('button', { name: 'Set status' }).click()
      await kim.getByRole('menuitem', { name: 'Draft' }).click()
      await kim.getByText(/^\d of 4 products changed\. What is not changed stays selected: Somebody else changes it/)
        .waitFor()
      const { body } = await api('GET', `/products?filter=${encodeURIComponent('{"q":"Braiser","status":"draft"}')}`)
      await kim.getByText(`${4 - body.length} item`).waitFor()
      t.match(await kim.getByText(/^\d of 4 products changed/).innerText(), `${body.length} of 4 products changed`)
      await kim.unroute('**/products/*')
      await kim.getByRole('button', { name: 'Unselect' }).click()
    })

    await t.test('names that are long or turn the text leave everything else in its place', async (t) => {
      const long = 'W'.repeat(100)
      const { body: { id } } = await api('POST', '/products', { name: long, sku: 'L'.repeat(60) })
      const asKim = await headersOf('kim')
      for (
        const [path, body] of [
          ['api-keys/', { name: long }],
          ['prices', { product_id: id, amount: 100, currency: 'USD' }]
        ] as const
      ) {
        t.equal(
          (await call('POST', `${baseUrl}/shops/${kettle.id}/${path}`, { headers: asKim, body })).status,
          201
        )
      }
      await goWithin(kim, `${shop}/api-keys`)
      await kim.getByRole('link', { name: long }).waitFor()
      t.ok(
        await comesTrue(kim, "document.querySelector('tbody button').getBoundingClientRect().right <= innerWidth"),
        'the menu with Revoke is in view'
      )
      await goWithin(kim, `${shop}/products?filter=${encodeURIComponent('{"q":"WWW"}')}`)
      await kim.getByRole('row').nth(1).waitFor()
      t.ok(
        await comesTrue(
          kim,
          "[...document.querySelectorAll('tbody td')].every((cell) => cell.getBoundingClientRect().right <= innerWidth)"
        )
      )
      const { body: turned } = await api('POST', '/products', { name: 'Tea \u202egnp.exe' })
      await api('PATCH', `/products/${turned.id}`, { price_amount: 100 })
      await goWithin(kim, `${shop}/history?filter=${encodeURIComponent(JSON.stringify({ record_id: turned.id }))}`)
      const sentence = kim.getByRole('listitem').filter({ hasText: 'changed' }).first().getByRole('paragraph')
      await sentence.waitFor()
      const [parts] = await sentence.evaluateAll((elements: any[]) =>
        elements.map((element) => {
          const range = element.ownerDocument.createRange()
          return [...element.childNodes].map((node) => {
            range.selectNodeContents(node)
            return range.getBoundingClientRect().left
          })
        })
      )
      t.ok(parts!.length > 3)
      t.strictSame(
        parts,
        parts!.toSorted((one: number, other: number) => one - other),
        'the sentence goes on to the right of the name'
      )
      await goWithin(kim, `${shop}/products/${id}`)
      await kim.getByRole('region', { name: 'Prices over time' }).getByRole('table').waitFor()
      for (const width of [320, 400, 640, 1280]) {
        await kim.setViewportSize({ width, height: 860 })
        t.ok(
          await comesTrue(kim, 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
          `a product with prices at ${width} px`
        )
      }
    })

    await t.test('staff see the settings, and change none', async (t) => {
      const noor = await signIn(browser, baseUrl, person('noor'), '/console/shops/paper-lantern/settings')
      await noor.getByText('Only owners change settings.').waitFor()
      t.equal(await noor.getByLabel('Locale').isDisabled(), true)
      t.equal(await noor.getByRole('button', { name: 'Save', exact: true }).count(), 0)
      await noor.context().close()
    })

    await t.test('without a connection the page says so, and goes on when it is back', async () => {
      await kim.context().setOffline(true)
      await kim.getByText(/^You are offline\./).waitFor()
      await kim.getByRole('link', { name: 'Accounts' }).click()
      await kim.context().setOffline(false)
      await kim.getByRole('link', { name: 'Alma Brandt', exact: true }).waitFor()
      await kim.getByText(/^You are offline\./).waitFor({ state: 'hidden' })
    })

    await t.test('what cannot be read is said, and read again by a button', async () => {
      for (
        const [answer, said] of [
          [async (route: Route) => await route.abort(), 'The server cannot be reached'],
          [
            async (route: Route) => await route.fulfill({ status: 503, json: { message: 'The server is busy' } }),
            'The server is busy'
          ]
        ] as const
      ) {
        await kim.route('**/shops/*/orders?*', answer)
        await goWithin(kim, `${shop}/orders?filter={}&perPage=${answer.length + said.length}`)
        await kim.getByRole('alert').filter({ hasText: said }).waitFor()
        await kim.unroute('**/shops/*/orders?*')
        await kim.getByRole('button', { name: 'Try again' }).click()
        await kim.getByText(said).waitFor({ state: 'detached' })
        await kim.getByRole('row').nth(1).waitFor()
      }
    })

    const question = kim.getByRole('dialog', { name: 'Your session has ended' })
    const endSession = async () => {
      await goWithin(kim, `${shop}/history?filter={}`)
      await kim.route('**/shops/**', async (route) => await route.fulfill({ status: 401, body: '{}' }))
      await kim.route(`${demo.idp.issuer}/token`, async (route) =>
        await route.fulfill({
          status: 400,
          contentType: 'application/json',
          headers: { 'access-control-allow-origin': '*' },
          body: '{"error":"invalid_grant"}'
        }))
      await question.waitFor()
    }

    await t.test('who does not want to sign in again is asked no more, until they save', async (t) => {
      await endSession()
      await kim.getByRole('button', { name: 'Not now' }).click()
      await kim.getByText('nothing is read or saved until you sign in again').waitFor()
      await kim.waitForTimeout(11_000)
      t.equal(await question.count(), 0, 'though the page reads every five seconds')
      await goWithin(kim, `${shop}/tags/create`)
      await kim.getByLabel('Name').fill('Kept')
      await kim.getByRole('button', { name: 'Save' }).click()
      await question.waitFor()
      await kim.unrouteAll()
      await question.getByRole('button', { name: 'Sign in again' }).click()
      await kim.getByRole('link', { name: 'Kept', exact: true }).waitFor()
      t.equal(await kim.getByText('nothing is read or saved').count(), 0)
    })

    await t.test('a person whom no shop has let in can sign out', async (t) => {
      const noor = await signIn(browser, baseUrl, person('noor'))
      await noor.route(
        '**/shops?*',
        async (route) => await route.fulfill({ json: [], headers: { 'content-range': 'shops 0-0/0' } })
      )
      await noor.goto(`${baseUrl}/console`)
      await noor.getByRole('heading', { name: 'Hello, Noor North' }).waitFor()
      t.equal(await noor.title(), 'Hello, Noor North · Shop console')
      await noor.getByRole('button', { name: 'Sign out' }).click()
      await noor.getByRole('heading', { name: 'You are signed out' }).waitFor()
      await noor.context().close()
    })
    t.strictSame(faultsOf.get(kim), [])

    await t.test('who signs in again as somebody else is on their own page, and saves nothing of before', async (t) => {
      await endSession()
      await kim.getByRole('button', { name: 'Not now' }).click()
      await goWithin(kim, `${shop}/tags/create`)
      await kim.getByLabel('Name').pressSequentially('Of the first', { delay: 30 })
      await kim.getByRole('button', { name: 'Save' }).click()
      await question.waitFor()
      await kim.context().clearCookies()
      const [second] = await Promise.all([
        kim.waitForEvent('popup'),
        question.getByRole('button', { name: 'Sign in again' }).click()
      ])
      await kim.unrouteAll()
      const saved: string[] = []
      kim.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/tags')) {
          saved.push(request.url())
        }
      })
      await second.fill('#username', person('noor').username)
      await second.fill('#password', person('noor').password)
      await second.click('button[type=submit]')
      await kim.getByRole('button', { name: 'Noor North' }).waitFor()
      t.strictSame([saved, faultsOf.get(kim)], [[], []])
    })
  }
)
