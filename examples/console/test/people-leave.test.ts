import t from 'tap'
import type { Request } from 'playwright-core'
import { call } from '../../shop/test/process.ts'
import { openBrowser, withoutChromium } from '../../../test/chromium.ts'
import { comesTrue, faultsOf, goWithin, listen, signIn, violations } from './browser.ts'
import { openDemo } from './demo.ts'

t.test(
  'the keys of who leaves are named, and somebody decides',
  { skip: withoutChromium },
  async (t) => {
    const { baseUrl, demo, person, headersOf } = await openDemo(t)
    const as = async (name: string) => {
      const headers = await headersOf(name)
      return async (method: string, path: string, body?: object) =>
        await call(method, baseUrl + path, { headers, ...body !== undefined && { body } })
    }
    const [admin, noor] = [await as('ada'), await as('noor')]
    const [{ id: noorId }, { id: adaId }] = [(await noor('GET', '/me')).body, (await admin('GET', '/me')).body]
    const { id: shop } = demo.shops.find(({ slug }) => slug === 'copper-kettle')!
    const { id: other } = demo.shops.find(({ slug }) => slug === 'north-trail')!
    const root = `/shops/${shop}`
    const join = async (id: string) => await admin('POST', `${root}/members`, { user_id: id, role: 'owner' })
    const made = async (of: string, name: string) =>
      (await noor('POST', `/shops/${of}/api-keys/`, { name })).body as {
        readonly id: string,
        readonly plaintext: string
      }
    const statusOf = async ({ plaintext }: { readonly plaintext: string }, of = shop) =>
      (await call('GET', `${baseUrl}/shops/${of}/tags`, { headers: { 'x-api-key': plaintext } })).status
    /** Until it is so: a yes counts for a second. */
    const becomes = async (key: { readonly plaintext: string }, wanted: number, of = shop) => {
      for (let tries = 0; tries < 200 && await statusOf(key, of) !== wanted; tries++) await kim.waitForTimeout(50)
      t.equal(await statusOf(key, of), wanted)
    }
    for (const id of [noorId, adaId]) await join(id)

    const browser = await openBrowser(t)
    const kim = await signIn(browser, baseUrl, person('kim'), '/console/shops/copper-kettle')
    const ada = await signIn(browser, baseUrl, person('ada'), '/console/admin')
    const sent: string[] = []
    for (const page of [kim, ada]) {
      page.on('request', (request: Request) => {
        if (['DELETE', 'PATCH', 'PUT'].includes(request.method())) {
          sent.push(`${request.method()} ${request.url().slice(baseUrl.length)}`)
        }
      })
    }
    const choose = async (page: typeof kim, label: string, option: string) => {
      await page.getByRole('dialog').getByLabel(label, { exact: true }).last().click()
      await page.getByRole('option', { name: option }).click()
    }
    const members = '/console/shops/copper-kettle/members'

    await t.test('a member without keys is removed without a question about keys', async (t) => {
      await goWithin(kim, members)
      await kim.getByRole('button', { name: /^Remove .*ada/ }).click()
      const dialog = kim.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Remove', exact: true }).and(dialog.locator(':enabled')).waitFor()
      t.equal(await dialog.getByRole('combobox').count(), 0)
      await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      t.strictSame(sent.splice(0), [`DELETE ${root}/members/${adaId}`])
    })

    await t.test('a member with keys is not removed before somebody decides about them', async (t) => {
      const till = await made(shop, 'Till')
      await goWithin(kim, members)
      await kim.getByRole('button', { name: /^Remove .*noor/ }).click()
      const dialog = kim.getByRole('dialog', { name: /^Remove .*noor.* from the shop\?$/ })
      await dialog.getByRole('listitem').filter({ hasText: 'Till' }).waitFor()
      const remove = dialog.getByRole('button', { name: 'Remove', exact: true })
      t.equal(await remove.isEnabled(), false)
      await choose(kim, 'Their API keys', 'Hand over to somebody else')
      t.equal(await remove.isEnabled(), false, 'to whom?')
      await dialog.getByText('Who made a key may have a copy').waitFor()
      t.strictSame(await violations(kim), [])
      await choose(kim, 'Who has them from now on', 'kim')
      await listen(kim)
      await remove.click()
      await dialog.waitFor({ state: 'detached' })
      t.ok(await comesTrue(kim, 'heard.length > 0'))
      t.match(await kim.evaluate('heard'), [/^.?noor.? was removed$/], 'said once')
      const { id: kimId } = (await (await as('kim'))('GET', '/me')).body
      t.strictSame(sent.splice(0), [`DELETE ${root}/members/${noorId}?keys=hand_over&keys_to=${kimId}`])
      t.equal(await statusOf(till), 200)
      await join(noorId)
    })

    await t.test('the keys of who is made inactive are named; they can be decided about later', async (t) => {
      const [here, there] = [await made(shop, 'Here'), await made(other, 'There')]
      await goWithin(ada, '/console/admin/admin/users')
      await ada.getByRole('switch', { name: /^Active: .*noor/ }).click()
      const dialog = ada.getByRole('dialog', { name: /^Deactivate .*noor/ })
      await dialog.getByRole('listitem').filter({ hasText: /Here.*, in .*Copper Kettle/ }).waitFor()
      await dialog.getByRole('listitem').filter({ hasText: /There.*, in .*North/ }).waitFor()
      await choose(ada, 'Their API keys', 'Decide later')
      await dialog.getByRole('button', { name: 'Deactivate' }).click()
      await dialog.waitFor({ state: 'detached' })
      t.strictSame(sent.splice(0), [`PATCH /admin/users/${noorId}`])
      await becomes(here, 401)
      await becomes(there, 401, other)

      await goWithin(kim, '/console/shops/copper-kettle/api-keys')
      const alert = kim.getByRole('alert').filter({ hasText: 'has left' })
      await alert.getByText(/Here.*, of .*noor/).waitFor()
      t.equal(await alert.getByText(/There/).count(), 0, 'not those of another shop')
      await kim.getByRole('row', { name: /Here/ }).getByText('Refused', { exact: true }).waitFor()
      t.strictSame(await violations(kim), [])

      await kim.getByRole('link', { name: 'Here', exact: true }).click()
      await kim.getByRole('heading', { level: 1, name: 'Here' }).waitFor()
      await alert.getByText(/Here.*, of .*noor/).waitFor()
      await kim.getByRole('region', { name: 'About this key' }).getByText('Refused', { exact: true }).waitFor()
      t.strictSame(await violations(kim), [])
      await kim.getByRole('link', { name: 'History of this key' }).click()
      await kim.getByText(/noor.* created .*Here/).waitFor()
      await goWithin(kim, '/console/shops/copper-kettle/api-keys')
      await alert.getByRole('button', { name: /^Decide about the keys of .*noor/ }).click()
      await kim.getByRole('dialog').getByRole('listitem').filter({ hasText: 'Here' }).waitFor()
      t.equal(await kim.getByRole('dialog').getByText(/works/).count(), 0, 'it is refused')
      await choose(kim, 'Their API keys', 'Revoke')
      await kim.getByRole('dialog').getByRole('button', { name: 'Decide' }).click()
      await alert.waitFor({ state: 'detached' })
      t.strictSame(sent.splice(0), [`PUT ${root}/members/${noorId}/api-keys`])
      await ada.getByRole('switch', { name: /^Active: .*noor/ }).click()
      await ada.getByRole('dialog').getByRole('button', { name: 'Let in' }).click()
      await becomes(there, 200, other)
      t.equal(await statusOf(here), 401, 'revoked for good')
    })

    t.strictSame([faultsOf.get(kim), faultsOf.get(ada)], [[], []])
  }
)
