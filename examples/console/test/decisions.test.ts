import type { Credentials } from 'identity-provider'
import type { Page, Request, Route } from 'playwright-core'
import t, { type Test } from 'tap'
import { authorizeUrl, pkce } from '../../../packages/oauth-discovery-shim/test/broker/world.ts'
import { person as personAt } from '../../../packages/oauth-discovery-shim/test/browser.ts'
import { freePort } from '../../../shared/free-port.ts'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { faultsOf, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

/** What the server, or the way to it, answers in place of a write, and what the page then says. */
const FAILURES = [
  ['503', 'The server is busy'],
  ['lost', 'The connection was lost before the server answered'],
  ['409', 'Somebody else does this'],
  ['412', 'Others have changed this'],
  ['422', 'This cannot be']
] as const

/** What somebody is about to agree to is read by POST too. */
const asksOnly = (request: Request): boolean =>
  request.url().endsWith('?dry_run=true') ||
  /"dry_run":true/.test(request.url().includes('/history/') ? request.postData() ?? '' : '')

/** A button that writes. */
interface Writing {
  readonly name: string
  readonly page?: Page
  /** Goes to it, and types what has to stay. */
  readonly open: () => Promise<void>
  /** @param clickCount - 2 for a double click */
  readonly press: (clickCount?: number) => Promise<void>
  /** Reads what was typed, and what it was. */
  readonly typed?: readonly [() => Promise<string>, string]
  /** Whether somebody decided on a record that they saw: others may have changed it since. */
  readonly hasSeen?: boolean
  /** The screen where it leaves its own. */
  readonly leads?: string
  /** What the page says then. */
  readonly then?: string
  /** It keeps what others have changed meanwhile by itself. */
  readonly merges?: boolean
}

/** Enough to compare: a difference of requests would be one of all that the browser knows. */
const named = (request: Request): string => `${request.method()} ${request.url()}`

/** An MCP client that the person lets in. */
async function connect (t: Test, baseUrl: string, who: Credentials): Promise<void> {
  const redirectUri = `http://localhost:${await freePort()}/callback`
  const { body: { client_id: clientId } } = await call('POST', `${baseUrl}/oauth/clients`, {
    body: { client_name: 'An agent', redirect_uris: [redirectUri] }
  })
  const { verifier, challenge } = pkce()
  const url = new URL(authorizeUrl(clientId, challenge, { redirect_uri: redirectUri, resource: undefined }), baseUrl)
  const code = (await (await personAt(t, Number(new URL(redirectUri).port), who)).signIn(url)).get('code')!
  const tokens = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri
    })
  })
  t.equal(tokens.status, 200)
}

t.test('decisions are asked about, made once, and fail aloud', { skip: withoutChromium }, async (t) => {
  const { baseUrl, demo, person, headersOf } = await openDemo(t)
  const headers = await headersOf('ada')
  const api = async (method: string, path: string, body?: object) =>
    (await call(method, baseUrl + path, { headers, ...body !== undefined && { body } })).body
  const { id: shopId } = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
  const root = `/shops/${shopId}`
  const shop = '/console/shops/copper-kettle'
  const admin = '/console/admin'
  // One is disconnected by them, one by an admin.
  for (let n = 0; n < 2; n += 1) await connect(t, baseUrl, person('kim'))
  const browser = await openBrowser(t)
  const kim = await signIn(browser, baseUrl, person('kim'))
  const ada = await signIn(browser, baseUrl, person('ada'), admin)
  for (const page of [kim, ada]) page.setDefaultTimeout(20_000)

  /** Writes that the pages sent, and how the next one fails. */
  let sent: Request[] = []
  let failure: string | undefined
  /** Answers wait for it, so that a second click comes before the first answer. */
  let held: Promise<void> | undefined
  const answers = async (route: Route) => {
    const request = route.request()
    if (request.method() === 'GET' || asksOnly(request)) return await route.continue()
    sent.push(request)
    const next = failure
    failure = undefined
    await held
    if (next === undefined) return await route.continue()
    if (next === 'lost') return await route.abort('connectionreset')
    const message = FAILURES.find(([name]) => name === next)?.[1] ?? 'Unauthorized'
    // Others have set the same fields to something else.
    const current = Object.fromEntries(
      Object.keys(request.headers()['content-type'] === 'application/json' ? request.postDataJSON() : {}).map((
        name
      ) => [name, 'theirs'])
    )
    await route.fulfill({
      status: Number(next),
      json: { message, current: { ...current, updated_at: '2026-01-01T00:00:00.000Z' } }
    })
  }
  for (const page of [kim, ada]) {
    for (const path of ['shops', 'shops/**', 'admin/**', 'oauth/grants/**']) {
      await page.route(`${baseUrl}/${path}`, answers)
    }
  }

  await t.test('what a search for the customer of an account found is done by a button', async (t) => {
    await goWithin(ada, `${admin}/reconciliation`)
    const start = ada.getByRole('button', { name: 'Start', exact: true })
    await start.dblclick()
    await ada.getByText(/· Done/).waitFor()
    t.equal(sent.length, 1, 'a double click makes one run')
    await ada.getByRole('button', { name: /^Not linked \(/ }).click()
    const check = ada.url().slice(baseUrl.length)
    const result = ada.getByRole('region', { name: 'What it found' })
    const find = async (name: string) => {
      await ada.getByRole('listitem').filter({ hasText: name }).getByRole('button', { name: 'Find the customer' })
        .click()
      await ada.getByRole('heading', { level: 1, name: 'Find customers and link them' }).waitFor()
      await ada.getByText(/· Done/).waitFor()
    }
    const apply = ada.getByRole('button', { name: 'Do this now' })
    await find('Farid Ghani')
    await result.getByText('1 no customer found').waitFor()
    t.equal(await apply.count(), 0, 'there is nothing to do')
    t.equal(await ada.getByText('Nothing is amiss').count(), 0)
    const [{ shop_id: shopOfHugo }] = await api(
      'GET',
      `/admin/accounts?filter=${encodeURIComponent('{"q":"Hugo Iversen"}')}`
    )
    const { id: tried } = await api('POST', '/admin/accounts/reconcile', { mode: 'link', shop_id: shopOfHugo })
    await goWithin(ada, `${admin}/reconciliation/${tried}`)
    failure = '409'
    await apply.click()
    await ada.getByRole('dialog').getByRole('button', { name: 'Do this now' }).click()
    await ada.getByText('Somebody else does this').waitFor()
    t.match(
      sent.at(-1)!.postDataJSON(),
      { mode: 'link', shop_id: shopOfHugo, dry_run: false },
      'what was tried for one shop is done there'
    )
    await ada.keyboard.press('Escape')
    await goWithin(ada, check)
    await find('Hugo Iversen')
    await ada.getByRole('listitem').filter({ hasText: 'Hugo Iversen' }).getByText('linked').waitFor()
    await apply.click()
    await ada.getByRole('dialog', { name: 'Change 1 account?' }).getByRole('button', { name: 'Do this now' }).click()
    await ada.getByText(/· Done$/).waitFor()
    await result.getByText('1 linked').waitFor()
    const [hugo] = await api('GET', `/admin/accounts?filter=${encodeURIComponent('{"q":"Hugo Iversen"}')}`)
    t.match(hugo.pay_customer_id, /^cus_/)
    t.match(sent.at(-1)!.postDataJSON(), { mode: 'link', accounts: [hugo.id], dry_run: false })
    await goWithin(ada, check)
    const row = ada.getByRole('listitem').filter({ hasText: 'Katya Lund' })
    sent = []
    await row.getByRole('button', { name: 'Unlink' }).click()
    await ada.getByRole('dialog', { name: /^Unlink .*Katya Lund.* from its customer\?$/ }).getByRole('button', {
      name: 'Back'
    }).click()
    t.strictSame(sent.map(named), [], 'nothing is unlinked without an answer')
  })

  await t.test('a change of an order or member that others changed is refused, and shows what they did', async (t) => {
    const [order] = await api('GET', `${root}/orders?filter={"status":"pending"}&sort=-created_at`)
    await goWithin(kim, `${shop}/orders/${order.id}/show`)
    await kim.getByRole('button', { name: 'Cancel the order' }).click()
    await api('PATCH', `${root}/orders/${order.id}`, { status: 'paid' })
    const dialog = kim.getByRole('dialog', { name: `Order ${order.id.slice(0, 8)} of` })
    await dialog.getByRole('button', { name: 'Cancel the order' }).click()
    await dialog.getByText(/^Others have changed this/).waitFor()
    t.match(await api('GET', `${root}/orders/${order.id}`), { status: 'paid' })
    await dialog.getByRole('button', { name: 'Back' }).click()
    await kim.getByRole('button', { name: 'Mark as fulfilled' }).waitFor()

    const { body: noor } = await call('GET', `${baseUrl}/me`, { headers: await headersOf('noor') })
    await api('POST', `${root}/members`, { user_id: noor.id, role: 'staff' })
    await goWithin(kim, `${shop}/members`)
    await kim.getByRole('combobox', { name: /^Role: .*noor/ }).click()
    await kim.getByRole('option', { name: 'Owner' }).click()
    for (const role of ['owner', 'staff']) await api('PATCH', `${root}/members/${noor.id}`, { role })
    await kim.getByRole('dialog').getByRole('button', { name: 'Make owner' }).click()
    await kim.getByRole('dialog').getByText(/^Others have changed this/).waitFor()
    t.match(await api('GET', `${root}/members/${noor.id}`), { role: 'staff' })
    await kim.keyboard.press('Escape')
  })

  await t.test('what an agent did in one go is one entry, and undone at once', async (t) => {
    const agent = { 'x-api-key': demo.shops.find(({ id }) => id === shopId)!.api_key }
    const list = `${baseUrl}${root}/products?filter=${encodeURIComponent('{"q":"Cream"}')}&sort=name&limit=3`
    const prices = async () =>
      (await call('GET', list, { headers: agent })).body.map(({ price_amount: amount }: { price_amount: number }) =>
        amount
      )
    const before = await prices()
    for (const { id, price_amount: amount } of (await call('GET', list, { headers: agent })).body) {
      await call('PATCH', `${baseUrl}${root}/products/${id}`, { headers: agent, body: { price_amount: amount * 2 } })
    }
    const polls: number[] = []
    kim.on('response', (response) => {
      if (response.url().includes('/history/work')) polls.push(response.status())
    })
    await goWithin(kim, `${shop}/history`)
    const piece = kim.getByRole('listitem').filter({ hasText: 'Demo changed 3 products, prices +100 %' })
    await piece.getByRole('link', { name: /^See each/ }).click()
    await kim.getByText('1-3 of 3').waitFor()
    t.equal(await kim.getByRole('link', { name: 'Each change', exact: true }).getAttribute('aria-current'), 'page')
    await kim.goBack()
    for (let tries = 0; tries < 400 && polls.at(-1) !== 304; tries++) await kim.waitForTimeout(50)
    t.equal(polls.at(-1), 304, 'while nothing is new, the page reads nothing again')
    const whose = async (name: string | RegExp) => {
      await kim.getByRole('button', { name: /^Whose/ }).click()
      await kim.getByRole('menuitemcheckbox', { name }).first().click()
      await kim.keyboard.press('Escape')
    }
    await whose('Imports')
    await kim.getByText('Nothing matches these filters').waitFor()
    await whose('Agent: Demo')
    await kim.getByRole('button', { name: 'Whose: Agent: Demo' }).waitFor()
    t.strictSame(await kim.getByRole('listitem').getByText(/^(?!Demo)/).filter({ hasText: 'changed' }).count(), 0)
    await kim.goBack()
    await kim.getByText('Nothing matches these filters').waitFor()
    await kim.getByRole('button', { name: 'Clear filters' }).click()
    await piece.getByRole('button', { name: /^Undo all/ }).click()
    await kim.getByText('3 changes will be undone.').waitFor()
    const [{ id, price_amount: doubled }] = (await call('GET', list, { headers: agent })).body
    await api('PATCH', `${root}/products/${id}`, { price_amount: 1 })
    await kim.getByRole('button', { name: 'Undo now' }).click()
    await kim.getByRole('dialog').getByText(/was changed again/).waitFor()
    await api('PATCH', `${root}/products/${id}`, { price_amount: doubled })
    await kim.getByRole('button', { name: 'Undo now' }).click()
    await kim.getByText('3 changes undone').waitFor()
    t.strictSame(await prices(), before)
  })

  await t.test('each button writes once for a double click, says what failed, and keeps what was typed', async (t) => {
    const { id: product } = await api('POST', `${root}/products`, { name: 'Written kettle', price_amount: 1000 })
    await api('POST', `${root}/categories`, { name: 'Written category' })
    const [order] = await api('GET', `${root}/orders?filter={"status":"pending"}`)
    await api('POST', `${root}/products/${product}/prices`, { amount: 900 })
    const { id: tag } = await api('POST', `${root}/tags`, { name: 'Written tag' })
    const { id: gone } = await api('POST', `${root}/products`, { name: 'Gone kettle' })
    await api('POST', `${root}/categories`, { name: 'Gone category' })
    for (const name of ['Revoked soon', 'Rotated soon']) await api('POST', `${root}/api-keys/`, { name })
    await api('POST', `${root}/categories`, { name: 'Parent category' })
    const { id: attribute } = await api('POST', `${root}/attributes`, { name: 'Written attribute', type: 'text' })
    const [account] = await api('GET', `${root}/accounts`)
    const [{ id: newcomer }] = await api(
      'GET',
      `/admin/users?filter=${encodeURIComponent(JSON.stringify({ q: 'Ada' }))}`
    )
    const { body: { id: kimId } } = await call('GET', `${baseUrl}/me`, { headers: await headersOf('kim') })
    const { id: run } = await api('POST', '/admin/accounts/reconcile', { mode: 'check' })
    const listed = `?filter=${encodeURIComponent('{"q":"Gone kettle"}')}`

    const click = (name: string | RegExp, page = kim) => async (clickCount = 1) => {
      await page.getByRole('button', { name, exact: true }).last().click({ clickCount })
    }
    const within = (name: string, page = kim) => async (clickCount = 1) => {
      await page.getByRole('dialog').last().getByRole('button', { name, exact: true }).click({ clickCount })
    }
    const field = (label: string | RegExp, text: string, page = kim) => ({
      fill: async () => {
        await page.getByLabel(label).last().fill(text)
      },
      typed: [async () => await page.getByLabel(label).last().inputValue(), text] as const
    })
    const to = (path: string, ...then: ReadonlyArray<() => Promise<unknown>>) => async () => {
      await goWithin(path.startsWith(admin) ? ada : kim, path, true)
      for (const step of then) await step()
    }
    const [name, newTag, amount, email, secret, newCategory, newKey] = [
      field('Name', 'Typed kettle'),
      field('Name', 'Typed tag'),
      field(/^Price/, '12.50'),
      field('E-mail address for customers', 'typed@example.com'),
      field('New secret key', 'sk_test_typed'),
      field(/^Name/, 'Typed category'),
      field(/^Name/, 'Typed key')
    ]
    const choose = (
      role: 'button' | 'combobox' | 'switch' | 'checkbox' | 'option' | 'menuitem',
      name: string | RegExp,
      page = kim
    ) =>
    async (clickCount = 1) => {
      await page.getByRole(role, { name }).last().click({ clickCount })
    }
    /** Once: a menu closes at the first click, and on a busy machine the second one meets what was behind it. */
    const item = (name: string) => async () => {
      await kim.getByRole('menuitem', { name }).last().click()
    }
    const then = (...steps: ReadonlyArray<Writing['press']>) => async (clickCount = 1) => {
      for (const step of steps) await step(step === steps.at(-1) ? clickCount : 1)
    }
    const select = async () => {
      await kim.getByText('1-1 of 1').waitFor()
      await kim.getByRole('checkbox', { name: 'Select all' }).check()
    }
    const file = async () => {
      await kim.getByLabel('Choose a file').setInputFiles({
        name: 'products.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('sku,name\nWRITTEN-1,Imported kettle\n')
      })
    }
    const shopName = field('Name', 'Typed shop', ada)
    const [
      limit,
      product1,
      tagName,
      attributeName,
      accountName,
      newAttribute,
      categoryName,
      memberId,
      newShop,
      payKey
    ] = [
      field('Calls', '100000', ada),
      field(/^Name/, 'Clicked twice'),
      field(/^Name/, 'Retyped tag'),
      field(/^Name/, 'Retyped attribute'),
      field(/^Name/, 'Retyped account'),
      field(/^Name/, 'Typed attribute'),
      field(/^Name/, 'Retyped category'),
      field(/^Id/, newcomer),
      field(/^Name/, 'Another shop', ada),
      field('New secret key', 'sk_test_typed', ada)
    ]
    const runDone = async () => await ada.getByText(/· Done/).waitFor()
    const writings: readonly Writing[] = [
      {
        name: 'save a product',
        open: to(`${shop}/products/${product}`, name.fill),
        press: click('Save'),
        typed: name.typed,
        hasSeen: true
      },
      {
        name: 'save a new product',
        open: to(`${shop}/products/create`, product1.fill),
        press: click('Save'),
        typed: product1.typed,
        leads: 'Clicked twice'
      },
      {
        name: 'save a tag',
        open: to(`${shop}/tags/${tag}`, tagName.fill),
        press: click('Save'),
        typed: tagName.typed,
        hasSeen: true,
        leads: 'Tags'
      },
      {
        name: 'save a new attribute',
        open: to(`${shop}/attributes/create`, newAttribute.fill),
        press: click('Save'),
        typed: newAttribute.typed,
        leads: 'Attributes'
      },
      {
        name: 'save an attribute',
        open: to(`${shop}/attributes/${attribute}`, attributeName.fill),
        press: click('Save'),
        typed: attributeName.typed,
        hasSeen: true,
        leads: 'Attributes'
      },
      {
        name: 'save an account',
        open: to(`${shop}/accounts/${account.id}`, accountName.fill),
        press: click('Save'),
        typed: accountName.typed,
        hasSeen: true,
        leads: 'Accounts'
      },
      {
        name: 'save a new tag',
        open: to(`${shop}/tags/create`, newTag.fill),
        press: click('Save'),
        typed: newTag.typed
      },
      {
        name: 'create a tag on the way',
        open: to(`${shop}/products/${product}`),
        press: async (clickCount = 1) => {
          // A list that closes meanwhile is opened again by who types again.
          for (;;) {
            await kim.getByRole('combobox', { name: 'Tags' }).fill('Fresh tag')
            try {
              return await kim.getByRole('option', { name: /Fresh tag/ }).click({ clickCount, timeout: 5000 })
            } catch (error) {
              if ((error as Error).name !== 'TimeoutError') throw error
            }
          }
        }
      },
      {
        name: 'add a price',
        open: to(`${shop}/products/${product}`, click('Add a price'), amount.fill),
        press: within('Save'),
        typed: amount.typed
      },
      {
        name: 'add a category',
        open: to(`${shop}/categories`, click('New category'), newCategory.fill),
        press: within('Save'),
        typed: newCategory.typed
      },
      {
        name: 'save a category',
        open: to(`${shop}/categories`, click(/^Edit .*Gone category/), categoryName.fill),
        press: within('Save'),
        typed: categoryName.typed,
        hasSeen: true
      },
      {
        name: 'move a category elsewhere',
        open: to(
          `${shop}/categories`,
          click(/^Move .*Retyped category.* elsewhere$/),
          async () => await kim.getByRole('dialog').getByRole('combobox').fill('Parent'),
          choose('option', 'Parent category')
        ),
        press: within('Save'),
        hasSeen: true
      },
      {
        name: 'move a category',
        open: to(`${shop}/categories`),
        press: click(/^Move .*Written category.* up$/),
        hasSeen: true
      },
      {
        name: 'move an order on',
        open: to(`${shop}/orders/${order.id}/show`, click('Mark as paid')),
        press: within('Mark as paid'),
        hasSeen: true
      },
      {
        name: 'create a key',
        open: to(`${shop}/api-keys`, click('New key'), newKey.fill),
        press: within('Create the key'),
        typed: newKey.typed
      },
      {
        name: 'save settings',
        open: to(`${shop}/settings`, email.fill),
        press: async (clickCount = 1) =>
          await kim.getByRole('button', { name: 'Save', exact: true }).first().click({ clickCount }),
        typed: email.typed,
        hasSeen: true
      },
      {
        name: 'save a payment key',
        open: to(`${shop}/settings`, secret.fill),
        press: click('Save key'),
        typed: secret.typed
      },
      {
        name: 'set limits',
        page: ada,
        open: async () => {
          await goWithin(ada, `${shop}/settings`)
          await click('Set limits', ada)()
          await limit.fill()
        },
        press: within('Save', ada),
        typed: limit.typed,
        hasSeen: true
      },
      {
        name: 'save a shop',
        page: ada,
        open: to(`${admin}/shops/${shopId}`, shopName.fill),
        press: click('Save', ada),
        typed: shopName.typed,
        hasSeen: true
      },
      { name: 'start a run', page: ada, open: to(`${admin}/reconciliation`), press: click('Start', ada) },
      {
        name: 'save a new shop',
        page: ada,
        open: to(
          `${admin}/shops/create`,
          newShop.fill,
          async () => await ada.getByLabel(/^Currency/).fill('EUR'),
          choose('option', /EUR/, ada)
        ),
        press: click('Save', ada),
        typed: newShop.typed,
        leads: 'Shops'
      },
      {
        name: 'take over from the provider',
        page: ada,
        open: to(`${admin}/reconciliation/${run}`, runDone),
        press: async (clickCount = 1) =>
          await ada.getByRole('listitem').filter({ hasText: 'Chiara Donati' }).getByRole('button', {
            name: 'Take over'
          }).click({ clickCount })
      },
      {
        name: 'replace a payment key',
        page: ada,
        open: to(`${admin}/pay-keys`, click(/Paper Lantern/, ada), payKey.fill),
        press: within('Save key', ada),
        typed: payKey.typed
      },
      {
        name: 'delete a price',
        open: to(`${shop}/products/${product}`, click('Change the price'), click('Delete this price')),
        press: within('Delete this price'),
        hasSeen: true
      },
      {
        name: 'set the status of many',
        open: to(`${shop}/products${listed}`, select),
        press: then(click('Set status'), item('Draft'))
      },
      {
        name: 'tag many',
        open: to(
          `${shop}/products${listed}`,
          select,
          click('Change tags'),
          choose('combobox', 'Add these tags'),
          choose('option', 'Retyped tag')
        ),
        press: within('Apply'),
        hasSeen: true,
        merges: true
      },
      {
        name: 'undo a change',
        open: to(`${shop}/history?filter=${encodeURIComponent(JSON.stringify({ record_id: gone }))}`, async () => {
          await kim.getByRole('button', { name: /^Undo: .*Gone kettle/ }).first().click()
        }),
        press: within('Undo now')
      },
      {
        name: 'undo all of an actor',
        open: to(
          `${shop}/history?filter=${encodeURIComponent(JSON.stringify({ actor_id: kimId }))}`,
          async () => await kim.getByRole('button', { name: /^Undo all changes of .+ since…$/ }).click(),
          click('Check'),
          async () => await kim.getByText(/changes will be undone/).waitFor()
        ),
        press: within('Undo now')
      },
      {
        name: 'delete a product',
        open: to(`${shop}/products/${product}`, click('Delete')),
        press: within('Delete'),
        hasSeen: true,
        leads: 'Products'
      },
      {
        name: 'delete a tag',
        open: to(`${shop}/tags/${tag}`, click('Delete')),
        press: within('Delete'),
        hasSeen: true,
        leads: 'Tags'
      },
      {
        name: 'delete a category',
        open: to(`${shop}/categories`, click(/^Delete .*Written category/)),
        press: within('Delete'),
        hasSeen: true
      },
      { name: 'import a file', open: to(`${shop}/imports`, file), press: click('Import'), leads: 'products.csv' },
      {
        name: 'revoke a key',
        open: to(`${shop}/api-keys`, click(/Revoked soon/), choose('menuitem', 'Revoke')),
        press: within('Revoke')
      },
      // It leaves its new key open, which another page closes.
      {
        name: 'rotate a key',
        open: to(`${shop}/api-keys`, click(/Rotated soon/), choose('menuitem', 'Rotate')),
        press: within('Rotate')
      },
      { name: 'remove the payment key', open: to(`${shop}/settings`, click('Remove')), press: within('Remove') },
      {
        name: 'add a member',
        open: to(`${shop}/members`, click('Add a member'), memberId.fill),
        press: within('Add'),
        typed: memberId.typed
      },
      {
        name: 'change a role',
        open: to(`${shop}/members`, choose('combobox', /^Role: .*noor/), choose('option', 'Owner')),
        press: within('Make owner'),
        hasSeen: true
      },
      {
        name: 'remove a member',
        open: to(`${shop}/members`, click(/^Remove .*noor/)),
        press: within('Remove'),
        hasSeen: true
      },
      {
        name: 'disconnect an app',
        open: to(`${shop}/apps`, click(/^Disconnect .*An agent/)),
        press: within('Disconnect')
      },
      {
        name: 'disconnect an app of a person',
        page: ada,
        open: to(`${admin}/admin/users/${kimId}/apps`, click(/^Disconnect .*An agent/, ada)),
        press: within('Disconnect', ada),
        then: 'The identity provider'
      },
      {
        name: 'make an admin',
        page: ada,
        open: to(`${admin}/admin/users`, choose('switch', /^Admin: .*noor/, ada)),
        press: within('Make admin', ada),
        hasSeen: true
      },
      {
        name: 'deactivate a person',
        page: ada,
        open: to(`${admin}/admin/users`, choose('switch', /^Active: .*noor/, ada)),
        press: within('Deactivate', ada),
        hasSeen: true
      }
    ]
    /** Waits until every write has its answer, and what follows from the answers has been sent and shown. */
    const atRest = async (page: Page) => {
      for (let answered = -1; answered < sent.length;) {
        answered = sent.length
        for (const request of sent) await request.response()
        // What is moved moves others.
        await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
        await page.waitForTimeout(500)
      }
    }
    const twice = async (press: Writing['press']) => {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      await press(2).finally(release)
      held = undefined
    }
    for (
      const [index, { name, page = kim, open, press, typed, hasSeen = false, leads, merges = false, then }] of writings
        .entries()
    ) {
      await t.test(name, async (t) => {
        sent = []
        await open()
        t.strictSame(sent.map(named), [], 'nothing is sent before the decision')
        const failsAs = async (kind: string, said: string, press: () => Promise<void>) => {
          failure = kind
          await press()
          if (kind === '412' && typed !== undefined && hasSeen) await within('Back to the form', page)()
          await page.getByText(said).filter({ visible: true }).last().waitFor()
          if (typed !== undefined) t.equal(await typed[0](), typed[1], `after ${kind}`)
        }
        await failsAs('503', 'The server is busy', async () => await twice(press))
        t.equal(sent.length, 1, 'a double click sends once')
        // All but the last fail on the way to the answer: each screen tries one of them.
        const others = FAILURES.filter(([kind]) =>
          kind === '412' ? hasSeen && !merges : kind === ['lost', '409', '422'][index % 3]
        )
        for (const [kind, said] of others) await failsAs(kind, said, press)
        failure = '401'
        sent = []
        await twice(press)
        // A busy machine takes its time to renew the session.
        while (sent.length < 2) await page.waitForTimeout(50)
        await atRest(page)
        t.equal(
          sent.length,
          new Set(sent.map(named)).size + 1,
          'the first is sent again once the session is renewed, and nothing more'
        )
        if (leads !== undefined) await page.getByRole('heading', { level: 1, name: leads }).waitFor()
        if (then !== undefined) await page.getByText(then).waitFor()
        t.equal(sent.some((request) => request.headers()['if-match'] !== undefined), hasSeen)
        await page.keyboard.press('Escape')
      })
    }
  })

  t.strictSame(
    [faultsOf.get(kim), faultsOf.get(ada)].map((faults) => faults!.filter((fault) => !fault.startsWith('dialog'))),
    [[], []]
  )
})
