import type { Page, Route } from 'playwright-core'
import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { answer, faultsOf, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

/** A write that waits on its way to the server, or on its way back. */
interface Held {
  /** What was sent. */
  readonly body: any
  readonly letGo: () => void
}

t.test(
  'what is typed while a form is being saved is kept, and not sent twice',
  { skip: withoutChromium },
  async (t) => {
    const { baseUrl, demo, person, headersOf } = await openDemo(t)
    const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
    const asKim = await headersOf('kim')
    const root = `${baseUrl}/shops/${kettle.id}`
    const api = async (method: string, path: string, body?: object) =>
      (await call(method, root + path, { headers: asKim, ...body !== undefined && { body } })).body
    const agent = async (path: string, body: object) =>
      await call('PATCH', root + path, { headers: { 'x-api-key': kettle.api_key }, body })
    const shop = '/console/shops/copper-kettle'
    const kim = await signIn(await openBrowser(t), baseUrl, person('kim'))
    kim.setDefaultTimeout(20_000)
    const save = kim.getByRole('button', { name: 'Save', exact: true })
    const name = kim.getByRole('textbox', { name: 'Name', exact: true })
    const sku = kim.getByLabel('SKU')

    /** All writes of the page, from now on. */
    const writes: string[] = []
    kim.on('request', (request) => {
      if (/^(POST|PATCH|PUT)$/.test(request.method()) && request.url().includes('/shops/')) {
        writes.push(`${request.method()} ${request.postData() ?? ''}`)
      }
    })

    /** Holds the next write, with all that it sends. @param answer - in place of that of the server */
    const hold = async (page: Page, answer?: Parameters<Route['fulfill']>[0]): Promise<() => Promise<Held>> => {
      let arrive: (held: Held) => void
      const arrived = new Promise<Held>((resolve) => {
        arrive = resolve
      })
      let isHeld = false
      const handle = async (route: Route): Promise<void> => {
        if (isHeld || !/^(POST|PATCH|PUT)$/.test(route.request().method())) return await route.fallback()
        isHeld = true
        await new Promise<void>((resolve) => arrive({ body: route.request().postDataJSON(), letGo: resolve }))
        await (answer === undefined ? route.continue() : route.fulfill(answer))
      }
      await page.route('**/shops/**', handle)
      return async () => await arrived
    }

    /** Waits for what the page says after a save, when more was typed since. */
    const saysSince = async () => await kim.getByText('What you typed since is not saved yet').first().waitFor()

    const asksBeforeLeaving = async () => {
      await kim.evaluate("document.querySelector('nav a[href$=audit], nav a[href$=tags]').click()")
      await answer(kim, 'Keep editing')
    }

    await t.test('a product keeps it, unsaved, and sends it with the next save alone', async (t) => {
      const { id } = await api('POST', '/products', { name: 'Slow', sku: 'A-1', price_amount: 1000, currency: 'JPY' })
      await goWithin(kim, `${shop}/products/${id}`, true)
      await name.fill('Slow kettle')
      writes.length = 0
      const held = await hold(kim)
      await save.click()
      const first = await held()
      t.strictSame(first.body, { name: 'Slow kettle' })
      t.ok(await save.isDisabled(), 'it is not sent again meanwhile')
      await sku.focus()
      await kim.keyboard.press('End')
      await kim.keyboard.type('-typed')
      await kim.keyboard.press('Enter')
      const price = kim.getByRole('textbox', { name: 'Price', exact: true })
      await price.fill('')
      await kim.keyboard.type('12x')
      first.letGo()
      await saysSince()
      t.equal(await sku.inputValue(), 'A-1-typed')
      t.equal(await price.inputValue(), '12x', 'as far as it was typed')
      t.equal(await kim.evaluate('document.activeElement.value'), '12x', 'where somebody is typing')
      t.equal(writes.length, 1)
      await asksBeforeLeaving()
      await price.press('Backspace')
      await save.click()
      await kim.getByText('Product saved').first().waitFor()
      t.strictSame(writes.slice(1).map((write) => JSON.parse(write.slice(6))), [{ price_amount: 12, sku: 'A-1-typed' }])
      t.match(await api('GET', `/products/${id}`), { name: 'Slow kettle', sku: 'A-1-typed', price_amount: 12 })
    })

    await t.test('what was typed back to what it was before the save is a change, too', async (t) => {
      const { id } = await api('POST', '/products', { name: 'Before' })
      await goWithin(kim, `${shop}/products/${id}`, true)
      await name.fill('After')
      const held = await hold(kim)
      await save.click()
      const { letGo } = await held()
      await name.fill('Before')
      letGo()
      await saysSince()
      t.equal(await name.inputValue(), 'Before')
      t.match(await api('GET', `/products/${id}`), { name: 'After' })
      await save.click()
      await kim.getByText('Product saved', { exact: true }).waitFor()
      t.match(await api('GET', `/products/${id}`), { name: 'Before' })
    })

    await t.test('a save that fails leaves it where it is, and the focus, too', async (t) => {
      const { id } = await api('POST', '/products', { name: 'Fails', sku: 'F-1' })
      await goWithin(kim, `${shop}/products/${id}`, true)
      await name.fill('Fails aloud')
      const held = await hold(kim, {
        status: 422,
        json: { statusCode: 422, code: 'X', error: 'Unprocessable Entity', message: 'Too loud', field: 'name' }
      })
      await save.click()
      const { letGo } = await held()
      await sku.focus()
      await kim.keyboard.press('End')
      await kim.keyboard.type('-typed')
      letGo()
      await kim.getByText('Too loud').first().waitFor()
      await kim.keyboard.type('-on')
      t.equal(await sku.inputValue(), 'F-1-typed-on')
      t.equal(await name.inputValue(), 'Fails aloud')
      await save.click()
      await kim.getByText('Product saved').first().waitFor()
      t.match(await api('GET', `/products/${id}`), { name: 'Fails aloud', sku: 'F-1-typed-on' })
    })

    await t.test('an agent who changes the record meanwhile is asked about, or merged', async (t) => {
      const { id } = await api('POST', '/products', { name: 'Shared', sku: 'S-1', description: 'Old' })
      await goWithin(kim, `${shop}/products/${id}`, true)
      await name.fill('Shared by Kim')
      const held = await hold(kim)
      await save.click()
      const { letGo } = await held()
      await sku.fill('S-KIM')
      await agent(`/products/${id}`, { description: 'Of an agent', sku: 'S-AGENT' })
      letGo()
      await saysSince()
      t.equal(await kim.getByLabel('Description').inputValue(), 'Of an agent', 'what nobody typed is as stored')
      await agent(`/products/${id}`, { sku: 'S-AGENT-2' })
      await save.click()
      const dialog = kim.getByRole('dialog', { name: 'Changed since you opened it' })
      await dialog.getByText('Keep mine: S-KIM').click()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      await kim.getByText('Product saved').first().waitFor()
      t.match(await api('GET', `/products/${id}`), {
        name: 'Shared by Kim',
        sku: 'S-KIM',
        description: 'Of an agent'
      })
    })

    for (
      const [list, label, last] of [
        ['products', 'SKU', 'Product saved'],
        ['attributes', 'Unit', 'Attribute saved']
      ] as const
    ) {
      await t.test(`a new record of ${list} is created once; what was typed since is its first change`, async (t) => {
        const called = `New of ${list}`
        await goWithin(kim, `${shop}/${list}/create`, true)
        const field = kim.getByLabel(label, { exact: true })
        await name.fill(called)
        await field.fill('gone')
        writes.length = 0
        const held = await hold(kim)
        await save.click()
        const { letGo } = await held()
        await field.fill('')
        await name.press('End')
        await kim.keyboard.type(' typed')
        letGo()
        await saysSince()
        t.match(kim.url(), /create$/)
        t.equal(await kim.evaluate('document.activeElement.value'), `${called} typed`)
        await asksBeforeLeaving()
        await save.click()
        await kim.getByText(last).first().waitFor()
        await kim.getByRole('heading', { level: 1, name: list === 'products' ? `${called} typed` : 'Attributes' })
          .waitFor()
        t.equal(writes.filter((write) => write.startsWith('POST')).length, 1)
        const made = await api('GET', `/${list}?filter=${encodeURIComponent(JSON.stringify({ q: called }))}`)
        t.match(made, [{ name: `${called} typed`, [label.toLowerCase()]: null }])
        t.equal(made.length, 1)
        if (list === 'products') t.equal(await name.inputValue(), `${called} typed`)
      })
    }

    await t.test('a form that goes on after a save stays for what was typed since', async (t) => {
      const { id } = await api('POST', '/tags', { name: 'Going' })
      await goWithin(kim, `${shop}/tags/${id}`, true)
      await name.fill('Going on')
      const held = await hold(kim)
      await save.click()
      const { letGo } = await held()
      await kim.keyboard.press('Tab')
      await name.fill('Going on and on')
      letGo()
      await saysSince()
      t.equal(await name.inputValue(), 'Going on and on')
      await save.click()
      await kim.getByRole('link', { name: 'Going on and on' }).waitFor()
    })

    await t.test('settings and a payment key keep it', async (t) => {
      await goWithin(kim, `${shop}/settings`, true)
      for (const label of ['E-mail address for customers', 'New secret key']) {
        const field = kim.getByLabel(label)
        await field.fill(label === 'New secret key' ? 'sk_test_slow' : 'slow@copper-kettle.example')
        const held = await hold(kim)
        await field.press('Enter')
        const { letGo } = await held()
        await kim.keyboard.type('r')
        const answered = kim.waitForResponse((response) => /^(PATCH|PUT)$/.test(response.request().method()))
        letGo()
        await (await answered).finished()
        await kim.getByRole('button', { name: label === 'New secret key' ? 'Save key' : 'Save' }).and(
          kim.locator(':enabled')
        ).waitFor()
        t.match(await field.inputValue(), label === 'New secret key' ? 'sk_test_slowr' : 'slow@copper-kettle.exampler')
        await asksBeforeLeaving()
        await field.fill('')
      }
    })

    t.strictSame(faultsOf.get(kim), [])
  }
)
