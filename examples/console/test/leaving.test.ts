import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { answer, comesTrue, faultsOf, goWithin, questionOf, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

t.test(
  'nothing that was typed is lost without a question, and what is saved asks none',
  { skip: withoutChromium },
  async (t) => {
    const { baseUrl, demo, headersOf } = await openDemo(t)
    const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
    const asKim = await headersOf('kim')
    const api = async (method: string, path: string, body?: object) =>
      await call(method, `${baseUrl}/shops/${kettle.id}${path}`, {
        headers: asKim,
        ...body !== undefined && { body }
      })
    const shop = '/console/shops/copper-kettle'
    const browser = await openBrowser(t)
    const questions: string[] = []
    const personOf = async (username: string): Promise<Page> => {
      const page = await signIn(browser, baseUrl, demo.users.find((user) => user.username === username)!)
      page.removeAllListeners('dialog')
      page.on('dialog', (dialog) => {
        questions.push(dialog.type())
        dialog.dismiss().catch(() => {})
      })
      return page
    }
    const kim = await personOf('kim')
    const ada = await personOf('ada')

    /** Waits until the browser has asked as often. */
    const asked = async (page: Page, count: number) => {
      while (questions.length < count) await page.waitForTimeout(10)
    }

    const byMenu = async (page: Page) =>
      await page.evaluate("document.querySelector('nav a[href$=tags], nav a[href$=audit]').click()")

    /**
     * Leaves by Back, by loading the page again, by closing it and by the menu, each in the moment that the question
     * before has closed: all ask, and with "no" the page stays.
     */
    const asks = async (t: Test, page: Page, heading: string) => {
      questions.length = 0
      const { url, length } = await page.evaluate('({ url: location.href, length: history.length })') as {
        readonly url: string,
        readonly length: number
      }
      await page.evaluate('history.back()')
      await answer(page, 'Keep editing')
      await page.evaluate('setTimeout(() => location.reload())')
      await asked(page, 1)
      await page.close({ runBeforeUnload: true })
      await asked(page, 2)
      await byMenu(page)
      await answer(page, 'Keep editing')
      t.strictSame(questions, ['beforeunload', 'beforeunload'])
      t.ok(await page.getByRole('heading', { name: heading }).isVisible())
      t.strictSame(await page.evaluate('({ url: location.href, length: history.length })'), { url, length })
    }

    /** Goes to another screen, and discards what was typed. */
    const leaveFor = async (page: Page, path: string) => {
      await goWithin(page, path, true)
      questions.length = 0
    }

    /** Leaves by the menu, and nothing asks. */
    const leaveFreely = async (t: Test, page: Page) => {
      questions.length = 0
      await byMenu(page)
      await page.getByRole('heading', { level: 1, name: page === kim ? 'Tags' : 'Changes' }).waitFor()
      t.strictSame(questions, [])
    }

    const idOf = async (list: string) => (await api('GET', `/${list}`)).body[0].id as string
    for (
      const [title, page, list, path] of [
        ['a new product', kim, 'products', 'create'],
        ['a product', kim, 'products', await idOf('products')],
        ['a new tag', kim, 'tags', 'create'],
        ['a tag', kim, 'tags', await idOf('tags')],
        ['an account', kim, 'accounts', await idOf('accounts')],
        ['a new shop', ada, 'shops', 'create'],
        ['a shop', ada, 'shops', kettle.id]
      ] as const
    ) {
      await t.test(`leaving the form of ${title} asks, also at once, and after saving it does not`, async (t) => {
        const root = page === kim ? shop : '/console/admin'
        const name = page.getByRole('textbox', { name: 'Name', exact: true })
        const type = async () => {
          await goWithin(page, `${root}/${list}`)
          await goWithin(page, `${root}/${list}/${path}`)
          await name.press('End')
          await name.pressSequentially(' typed', { delay: 30 })
          return await page.getByRole('heading', { level: 1 }).innerText()
        }
        await asks(t, page, await type())
        t.match(await name.inputValue(), / typed$/)
        await leaveFor(page, `${root}/${list}`)
        await asks(t, page, await type())
        questions.length = 0
        if (title === 'a new shop') {
          await page.getByRole('combobox', { name: 'Currency' }).fill('EUR')
          await page.keyboard.press('Tab')
        }
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText(/^(Product|Tag|Attribute|Account|Shop) (created|saved)$/).first().waitFor()
        t.strictSame(questions, [])
        await leaveFreely(t, page)
      })
    }

    await t.test('leaving settings, a payment key, the check of an import and a new key asks', async (t) => {
      await goWithin(kim, `${shop}/settings`)
      await kim.getByLabel('E-mail address for customers').fill('new@copper-kettle.example')
      await asks(t, kim, 'Settings')
      await kim.getByLabel('E-mail address for customers').fill('kitchen@copper-kettle.example')
      await kim.getByLabel('New secret key').fill('sk_test_typed')
      await asks(t, kim, 'Settings')
      await kim.getByLabel('New secret key').fill('')
      await leaveFor(kim, `${shop}/imports`)
      await kim.getByLabel('Choose a file').setInputFiles({
        name: 'teas.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('name,sku\nTea cosy,TC-1')
      })
      await kim.getByText('1 product in the file: 1 new').waitFor()
      await asks(t, kim, 'Imports')
      await leaveFor(kim, `${shop}/api-keys`)
      await kim.getByRole('button', { name: 'New key' }).click()
      await kim.getByRole('dialog').getByLabel(/^Name/).fill('Never copied')
      await asks(t, kim, 'New key')
      await kim.getByRole('button', { name: 'Create the key' }).click()
      await kim.getByText('Your key is ready').waitFor()
      await asks(t, kim, 'Your key is ready')
      await kim.getByRole('dialog').getByRole('button', { name: 'Copy' }).first().click()
      await kim.getByText('Copied', { exact: true }).waitFor()
      await kim.getByRole('button', { name: 'Done' }).click()
      await leaveFreely(t, kim)
    })

    await t.test('a form whose save has failed asks, and again until the answer is yes', async (t) => {
      await leaveFor(kim, `${shop}/tags/create`)
      await kim.getByLabel('Name').fill('Never saved')
      await kim.route(
        '**/shops/*/tags',
        async (route) => await route.fulfill({ status: 409, json: { message: 'Somebody else does this' } }),
        { times: 1 }
      )
      await kim.getByRole('button', { name: 'Save' }).click()
      await kim.getByText('Somebody else does this').waitFor()
      await kim.waitForTimeout(6000)
      t.ok(await kim.getByText('Somebody else does this').isVisible(), 'why it failed can still be read')
      await asks(t, kim, 'New tag')
      t.equal(await kim.getByLabel('Name').inputValue(), 'Never saved')
      await leaveFor(kim, `${shop}/tags`)
    })

    await t.test('another shop and signing out ask, too, and signing out does nothing without a yes', async (t) => {
      await leaveFor(ada, '/console/shops/copper-kettle/tags/create')
      await ada.getByLabel('Name').pressSequentially('Kept', { delay: 30 })
      await ada.getByRole('button', { name: 'Copper Kettle' }).click()
      await ada.getByRole('menuitem', { name: 'Paper Lantern' }).click()
      await answer(ada, 'Keep editing')
      await ada.getByRole('button', { name: 'Ada' }).click()
      await ada.getByRole('menuitem', { name: 'Sign out' }).click()
      await answer(ada, 'Keep editing')
      t.equal(await ada.getByLabel('Name').inputValue(), 'Kept')
      await ada.getByRole('button', { name: 'Save' }).click()
      await ada.getByRole('link', { name: 'Kept', exact: true }).waitFor()
      t.strictSame(questions, [])
    })

    /** Where the page is: its address and heading, and what is typed. */
    const placeOf = async (page: Page) =>
      await page.evaluate(`({
        path: location.pathname.replace(${JSON.stringify(shop)}, ''),
        heading: document.querySelector('h1')?.innerText,
        name: document.querySelector('main input[name=name]')?.value
      })`) as { readonly path: string, readonly heading: string, readonly name?: string }

    // Counted before the page sees them, since it keeps those that it holds for itself.
    await kim.addInitScript("window.steps = 0; addEventListener('popstate', () => { window.steps++ }, true)")
    await kim.goto(`${baseUrl}${shop}/tags`)
    await kim.getByRole('heading', { level: 1, name: 'Tags' }).waitFor()

    const back = 'history.back()'
    const link = "document.querySelector('nav a[href$=categories]').click()"
    for (
      const [title, ways, path, heading] of [
        ['Back', [back], '/products', 'Products'],
        ['Back twice at once', [`${back}; ${back}`], '/attributes', 'Attributes'],
        ['Back twice, the second while it asks', [back, back], '/products', 'Products'],
        ['Back three times at once', [`${back}; ${back}; ${back}`], '/tags', 'Tags'],
        ['Back and a link at once', [`${back}; ${link}`], '/categories', 'Categories'],
        ['a link and Back at once', [`${link}; ${back}`], '/categories', 'Categories'],
        ['Forward', ['history.forward()'], '/accounts', 'Accounts']
      ] as const
    ) {
      await t.test(`${title}: it asks, and the address is always that of the page`, async (t) => {
        const name = kim.getByLabel('Name')
        for (const answered of ['Discard', 'Keep editing'] as const) {
          for (const list of ['tags', 'attributes', 'products', 'tags/create', 'accounts']) {
            await leaveFor(kim, `${shop}/${list}`)
          }
          await kim.evaluate(back)
          await kim.getByRole('heading', { level: 1, name: 'New tag' }).waitFor()
          await name.pressSequentially(title, { delay: 30 })
          for (const way of ways) {
            const steps = Number(await kim.evaluate('window.steps'))
            await kim.evaluate(way)
            await questionOf(kim).waitFor()
            // Away and back: a link asks before its Back has come to an end.
            await comesTrue(kim, `window.steps >= ${steps + 2} && location.pathname.endsWith('/tags/create')`)
          }
          await answer(kim, answered)
          if (answered === 'Discard') {
            await kim.getByRole('heading', { level: 1, name: heading }).waitFor()
            t.match(await placeOf(kim), { path, heading })
          } else t.strictSame(await placeOf(kim), { path: '/tags/create', heading: 'New tag', name: title })
        }
        await kim.getByRole('button', { name: 'Save' }).click()
        await kim.getByRole('link', { name: title, exact: true }).waitFor()
        t.match(await placeOf(kim), { path: '/tags', heading: 'Tags' })
        t.strictSame(questions, [])
      })
    }

    await t.test('the question is answered with the keyboard, and the focus comes back', async (t) => {
      await leaveFor(kim, `${shop}/tags`)
      await leaveFor(kim, `${shop}/tags/create`)
      const focused = async () =>
        await kim.evaluate('document.activeElement.name ?? document.activeElement.textContent')
      await kim.getByLabel('Name').pressSequentially('By keyboard', { delay: 30 })
      for (const keys of [['Escape'], ['Tab', 'Enter']]) {
        await kim.evaluate(back)
        await questionOf(kim).waitFor()
        t.strictSame(await violations(kim), [])
        for (const key of keys) await kim.keyboard.press(key)
        await questionOf(kim).waitFor({ state: 'detached' })
        t.equal(await focused(), 'name')
        t.equal(await kim.getByLabel('Name').inputValue(), 'By keyboard')
      }
      await kim.evaluate(back)
      await questionOf(kim).waitFor()
      for (const key of ['Tab', 'Tab', 'Enter']) await kim.keyboard.press(key)
      await kim.getByRole('heading', { level: 1, name: 'Tags' }).waitFor()
      t.equal(await focused(), 'Tags')
    })

    await t.test('deleting a record asks what it always asks, not about what was typed in its form', async (t) => {
      const { body: { id } } = await api('POST', '/tags', { name: 'Short lived' })
      await leaveFor(kim, `${shop}/tags/${id}`)
      await kim.getByLabel('Name').pressSequentially(' typed', { delay: 30 })
      await kim.getByRole('button', { name: 'Delete' }).click()
      await kim.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await kim.getByRole('heading', { level: 1, name: 'Tags' }).waitFor()
      t.strictSame(questions, [])
    })

    await t.test('who has left while the form was being saved stays where they are', async (t) => {
      await leaveFor(kim, `${shop}/tags/create`)
      await kim.getByLabel('Name').pressSequentially('Slow', { delay: 30 })
      await kim.route('**/shops/*/tags', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 2000))
        await route.continue()
      }, { times: 1 })
      await kim.getByRole('button', { name: 'Save' }).click()
      await leaveFor(kim, `${shop}/attributes/create`)
      await kim.getByRole('textbox', { name: 'Name', exact: true }).pressSequentially('Material', { delay: 30 })
      await kim.getByText(/created/).first().waitFor()
      await kim.waitForTimeout(500)
      t.equal(await kim.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Material')
      t.strictSame(questions, [])
    })

    await t.test('a dialog that is being saved takes nothing that its end would lose, and looks so', async (t) => {
      await leaveFor(kim, `${shop}/categories`)
      await kim.getByRole('button', { name: 'New category', exact: true }).click()
      const field = kim.getByLabel(/^Name/)
      await field.fill('before')
      let letGo = () => {}
      const isSent = new Promise<void>((resolve) => {
        kim.route('**/shops/*/categories', async (route) => {
          if (route.request().method() === 'POST') {
            resolve()
            await new Promise<void>((resolve) => {
              letGo = resolve
            })
          }
          await route.continue()
        }).catch(() => {})
      })
      await field.press('Enter')
      await isSent
      await kim.keyboard.type(' meanwhile')
      t.equal(await field.inputValue(), 'before')
      t.equal(await kim.evaluate("getComputedStyle(document.querySelector('[inert] > *')).opacity"), '0.5')
      letGo()
      await kim.getByRole('dialog').waitFor({ state: 'detached' })
      await kim.unrouteAll()
    })

    await t.test('what is typed after a save asks again', async (t) => {
      await leaveFor(kim, `${shop}/products/${await idOf('products')}`)
      const name = kim.getByRole('textbox', { name: 'Name', exact: true })
      await name.pressSequentially(' twice', { delay: 30 })
      await kim.getByRole('button', { name: 'Save' }).click()
      await kim.getByText('Product saved').first().waitFor()
      await name.pressSequentially('!', { delay: 30 })
      await asks(t, kim, await kim.getByRole('heading', { level: 1 }).innerText())
    })
    t.strictSame([faultsOf.get(kim), faultsOf.get(ada)], [[], []])
  }
)
