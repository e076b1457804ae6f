import type { Page, Request } from 'playwright-core'
import t from 'tap'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, goWithin, signIn } from './browser.ts'
import { openDemo } from './demo.ts'

type Row = Readonly<Record<string, any>>

/** How somebody sets a filter. */
type Choose = (page: Page) => Promise<void>

/** A filter that a list offers, and which records it is about. */
type Offered = readonly [title: string, choose: Choose, is: (row: Row) => boolean]

/** A list, and how its filters are set and told. */
interface Listed {
  readonly page: Page
  /** Where it is read, besides its filters. */
  readonly path: string
  readonly rows: readonly Row[]
  /** The elements that show a record. */
  readonly shown: string
  /** How many records are on a page. */
  readonly most: number
  /** Shows it without a filter. */
  readonly open: () => Promise<void>
  /** Takes the filter away. */
  readonly clear: () => Promise<void>
  /** Whether it is asked for with a filter. */
  readonly isFiltered: (query: URLSearchParams) => boolean
  readonly offered: readonly Offered[]
}

const filters = (page: Page) => page.getByRole('group', { name: 'Filters' })

/** Chooses from the menu of a chip. */
const choose = (chip: string, choice: string | RegExp): Choose => async (page) => {
  await filters(page).getByRole('button', { name: chip, exact: true }).click()
  await page.getByRole('menuitemcheckbox', { name: choice }).first().click()
  await page.keyboard.press('Escape')
}

const search = (placeholder: string, text: string): Choose => async (page) =>
  await page.getByPlaceholder(placeholder).fill(text)

const has = (text: string, ...fields: readonly string[]) => (row: Row): boolean =>
  fields.some((field) => String(row[field] ?? '').toLowerCase().includes(text))

t.test(
  'every filter that a list offers changes what is asked for and what is shown',
  { skip: withoutChromium },
  async (t) => {
    const { baseUrl, demo, person, headersOf } = await openDemo(t)
    const kettle = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
    const [asKim, asAda] = [await headersOf('kim'), await headersOf('ada')]
    const send = async (method: string, path: string, headers: object, body?: object) => {
      const answer = await call(method, baseUrl + path, {
        headers: headers as Record<string, string>,
        ...body !== undefined && { body }
      })
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body
    }
    const root = `/shops/${kettle.id}`
    const allOf = async (path: string): Promise<readonly Row[]> => await send('GET', `${path}?limit=200`, asAda)

    // What the demo does not have.
    const { id: tag } = await send('POST', `${root}/tags`, { 'x-api-key': kettle.api_key }, {
      name: 'Made by an agent'
    })
    await send('PATCH', `${root}/tags/${tag}`, asKim, { name: 'Changed by a person' })
    await send('DELETE', `${root}/tags/${tag}`, asKim)
    const { id: key } = await send('POST', `${root}/api-keys/`, asKim, { name: 'Revoked key' })
    await send('DELETE', `${root}/api-keys/${key}`, asKim)
    const { id: closed } = await send('POST', '/shops', asAda, { name: 'Closed shop', currency: 'EUR' })
    await send('PATCH', `/shops/${closed}`, asAda, { status: 'archived' })
    await send('POST', `${root}/accounts`, asKim, { name: 'Nobody at the provider' })
    const { id: run } = await send('POST', '/admin/accounts/reconcile', asAda, { mode: 'check' })
    const runPath = `/admin/accounts/reconcile/${run}`
    for (let isDone = false; !isDone;) isDone = (await send('GET', runPath, asAda)).finished_at !== null

    const browser = await openBrowser(t)
    const kim = await signIn(browser, baseUrl, person('kim'), '/console/shops/copper-kettle')
    const ada = await signIn(browser, baseUrl, person('ada'), '/console/admin')
    const [anyTag] = await allOf(`${root}/tags`)
    const [anyCategory] = (await allOf(`${root}/products`)).flatMap((row) => row['category_ids'] as string[])
    const category = (await allOf(`${root}/categories`)).find(({ id }) => id === anyCategory)!
    const { currency: money } = await send('GET', `${root}/config`, asKim)
    const prices = (await allOf(`${root}/products`)).filter(({ currency }) => currency === money).map((row) =>
      Number(row['price_amount'])
    )
    const dear = prices.toSorted((one, other) => one - other).at(-5)!
    const SEARCH_PRODUCTS = 'Search by name, SKU or description'
    const shop = '/console/shops/copper-kettle'
    const admin = '/console/admin'

    const lists: ReadonlyArray<
      readonly [page: Page, address: string, path: string, filters: readonly Offered[]]
    > = [
      [kim, `${shop}/products`, `${root}/products`, [
        ['search', search(SEARCH_PRODUCTS, 'kettle'), has('kettle', 'name', 'sku', 'description')],
        ['status', choose('Status', 'Draft'), ({ status }) => status === 'draft'],
        [
          'category',
          choose('Category', new RegExp(`${category['name']}$`)),
          (row) => row['category_ids'].includes(anyCategory)
        ],
        ['tag', choose('Tag', anyTag!['name']), (row) => row['tag_ids'].includes(anyTag!['id'])],
        ['price', async (page) => {
          await filters(page).getByRole('button', { name: 'Price', exact: true }).click()
          await page.getByLabel(/^From/).fill(String(dear / 100))
          await page.getByRole('button', { name: 'Apply' }).click()
        }, ({ price_amount: amount, currency }) => amount >= dear && currency === money]
      ]],
      [kim, `${shop}/tags`, `${root}/tags`, [
        ['search', search('Search tags', anyTag!['name'].toLowerCase()), has(anyTag!['name'].toLowerCase(), 'name')]
      ]],
      [kim, `${shop}/attributes`, `${root}/attributes`, [
        ['search', search('Search attributes', 'material'), has('material', 'name', 'code')]
      ]],
      [kim, `${shop}/accounts`, `${root}/accounts`, [
        ['search', search('Search accounts', 'nobody'), has('nobody', 'name')],
        [
          'no customer',
          async (page) => await filters(page).getByRole('button').first().click(),
          (row) => row['details']['pay_customer_id'] === undefined
        ]
      ]],
      [kim, `${shop}/orders`, `${root}/orders`, [
        ['status', choose('Status', 'Cancelled'), ({ status }) => status === 'cancelled'],
        ['other status', choose('Status', 'Paid'), ({ status }) => status === 'paid']
      ]],
      [kim, `${shop}/api-keys`, `${root}/api-keys/`, [
        ['status', choose('Status', 'Revoked'), ({ status }) => status === 'revoked'],
        ['search', search('Search by name or prefix', 'revoked'), has('revoked', 'name')]
      ]],
      [kim, `${shop}/history`, `${root}/history`, [
        ['search', search('Search by record, actor or operation', 'revoked'), has('revoked', 'record_name')],
        ['who', choose('Who', 'Person'), ({ actor_kind: kind }) => kind === 'user'],
        ['action', choose('Action', 'Deleted'), ({ action }) => action === 'delete'],
        ['kind', choose('Record', 'tag'), ({ record_kind: kind }) => kind === 'tag']
      ]],
      [ada, `${admin}/shops`, '/shops', [
        ['search', search('Search shops', 'closed'), has('closed', 'name', 'slug')],
        ['status', choose('Status', 'Archived'), ({ status }) => status === 'archived']
      ]],
      [ada, `${admin}/admin/users`, '/admin/users', [
        ['search', search('Search people', 'kim'), has('kim', 'name')]
      ]]
    ]
    const RECORDS = 'main [role=rowheader], main ol > li'
    const listed = await Promise.all(lists.map(async ([page, address, path, offered]): Promise<Listed> => {
      const open = async () => await goWithin(page, `${address}?filter=%7B%7D`)
      return {
        page,
        path: path.replace(/\/$/, ''),
        rows: await allOf(path),
        shown: RECORDS,
        most: /history|tags|attributes/.test(path) ? 50 : 25,
        open,
        clear: open,
        isFiltered: (query) => !/^(\{\})?$/.test(query.get('filter') ?? ''),
        offered
      }
    }))

    const { id: demoKey } = (await allOf(`${root}/api-keys/`)).find(({ name }) => name === 'Demo')!
    const openWork = async () => await goWithin(kim, `${shop}/history`)
    listed.push({
      page: kim,
      path: `${root}/history/work`,
      rows: (await send('GET', `${root}/history/work`, asKim)).work,
      shown: RECORDS,
      most: 100,
      open: openWork,
      clear: openWork,
      isFiltered: (query) => query.size > 0,
      offered: [
        ['agents', choose('Whose', 'Agents'), ({ actor_kind: kind }) => kind === 'api-key'],
        ['people', choose('Whose', 'People'), ({ actor_kind: kind }) => kind === 'user'],
        ['one key', choose('Whose', 'Agent: Demo'), ({ actor_id: id }) => id === demoKey]
      ]
    })

    /** Presses a chip of what the run has found; each says how many. */
    const press = (name: RegExp): Choose => async (page) =>
      await page.locator('main').getByRole('button', { name }).click()
    listed.push({
      page: ada,
      path: runPath,
      rows: (await send('GET', `${runPath}?limit=500`, asAda)).items,
      shown: 'main [role=group] ~ ul > li',
      most: 25,
      open: async () => {
        await goWithin(ada, `${admin}/reconciliation`)
        await goWithin(ada, `${admin}/reconciliation/${run}`)
      },
      clear: async () => await ada.locator('main').locator('[aria-pressed=true]').click(),
      isFiltered: (query) => query.has('differences') || query.has('outcome'),
      offered: [
        ['difference', press(/^Not linked \(/), ({ differences }) => differences.includes('missing')],
        ['outcome', press(/^[Ff]ailed \(/), ({ outcome }) => outcome === 'failed']
      ]
    })
    const { customers } = await send('GET', `/admin/accounts/unlinked-customers?shop_id=${kettle.id}`, asAda)
    /** Chooses the shop whose customers are listed. */
    const chooseShop = (name: string): Choose => async (page) => {
      await page.getByRole('combobox', { name: 'Shop' }).click()
      await page.getByRole('option', { name }).click()
    }
    listed.push({
      page: ada,
      path: '/admin/accounts/unlinked-customers',
      rows: customers,
      shown: 'main [aria-busy] > ul > li',
      most: 100,
      open: async () => {
        await goWithin(ada, `${admin}/reconciliation`)
        await goWithin(ada, `${admin}/unlinked-customers`)
        await chooseShop('Copper')(ada)
      },
      clear: async () => await chooseShop('Copper')(ada),
      isFiltered: (query) => query.get('shop_id') !== kettle.id,
      // That shop has no key at the provider, and so no customers that anybody could read.
      offered: [['shop', chooseShop('Paper'), () => false]]
    })

    for (const { page, path, rows, shown, most, open, clear, isFiltered, offered } of listed) {
      await t.test(path.replace(root, ''), async (t) => {
        /** How many records the page shows. */
        const SHOWN = `document.querySelectorAll('${shown}').length`
        const shows = async (is: (row: Row) => boolean, what: string) => {
          const count = Math.min(rows.filter(is).length, most)
          await comesTrue(page, `${SHOWN} === ${count}`)
          t.equal(await page.evaluate(SHOWN), count, what)
          return count
        }
        for (const [title, set, is] of offered) {
          await open()
          const all = await shows(() => true, `${title}: all`)
          let letGo = () => {}
          const isLetGo = new Promise<void>((resolve) => {
            letGo = resolve
          })
          const late = new Promise<Request>((resolve) => {
            page.route(
              (url) => url.pathname === path && isFiltered(url.searchParams),
              async (route) => {
                resolve(route.request())
                await isLetGo
                await route.continue().catch(() => {})
              }
            ).catch(() => {})
          })
          await set(page)
          const request = await late
          await clear()
          await shows(() => true, `${title}: taken away before its answer`)
          const over = new Promise<void>((resolve) => {
            for (const event of ['requestfinished', 'requestfailed'] as const) {
              page.on(event as 'requestfinished', (one) => {
                if (one === request) resolve()
              })
            }
          })
          if (request.failure() === null) {
            letGo()
            await over
          }
          letGo()
          await page.unrouteAll({ behavior: 'wait' })
          await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
          await shows(() => true, `${title}: after its answer, which comes last`)
          await set(page)
          t.not(await shows(is, `${title}: only these`), all, `${title}: some are left out`)
        }
      })
    }
    t.strictSame([faultsOf.get(kim), faultsOf.get(ada)], [[], []])
  }
)
