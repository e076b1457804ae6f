import type { Product as ProductSchema } from '../../../shop/src/catalog/product-schemas.ts'
import { amountFrom, amountText, moneyText } from '../money.ts'
import { element } from './element.ts'
import { connect, textOf, type ToolResult } from './host.ts'

/*
 * The view of list_products: pictures and prices, which a person filters. Each filter is a call of the tool, as whoever has the
 * conversation.
 */

type Product = typeof ProductSchema['static']

const FIELDS = ['id', 'name', 'sku', 'status', 'price_amount', 'currency', 'image_urls']
const PAGE = 24
const SORTS = { name: 'Name', price_amount: 'Lowest price', '-price_amount': 'Highest price', '-updated_at': 'Newest changes' }
const STATUSES = { '': 'All', active: 'Active', draft: 'Draft', archived: 'Archived' }
/** Where paths of the server lead. */
const ORIGIN = document.documentElement.dataset['origin'] ?? ''

const field = (label: string, input: HTMLElement): HTMLLabelElement => element('label', {}, label, input)
const select = (name: string, options: Readonly<Record<string, string>>): HTMLSelectElement => element('select', { name }, ...Object.entries(options).map(([value, label]) => element('option', { value }, label)))

const search = element('input', { name: 'q', type: 'search', autocomplete: 'off' })
const status = select('status', STATUSES)
const lowest = element('input', { name: 'from', inputmode: 'decimal', autocomplete: 'off' })
const highest = element('input', { name: 'to', inputmode: 'decimal', autocomplete: 'off' })
const sort = select('sort', SORTS)
const form = element('form', { role: 'search', hidden: true }, field('Search', search), field('Status', status), field('Price from', lowest), field('Price to', highest), field('Order', sort))
const said = element('div', { role: 'status' }, 'Waiting for the products…')
const wrong = element('div', { role: 'alert', hidden: true })
const grid = element('ul', { class: 'grid' })
const more = element('button', { type: 'button', hidden: true }, 'Show more')
document.body.append(element('main', {}, element('h1', {}, 'Products'), form, wrong, said, grid, more))

let args: Readonly<Record<string, unknown>> = {}
let currency = 'EUR'
let latest = 0
let shown = 0

const host = await connect('shop-products', {
  input (given) {
    args = given
    const { filter = {}, sort: order = 'name' } = given as { readonly filter?: Readonly<Record<string, unknown>>, readonly sort?: string }
    search.value = typeof filter['q'] === 'string' ? filter['q'] : ''
    status.value = typeof filter['status'] === 'string' && filter['status'] in STATUSES ? filter['status'] : ''
    if (order in SORTS) sort.value = order
  },
  result (result) {
    const { price_amount_gte: from, price_amount_lte: to } = (args['filter'] ?? {}) as Readonly<Record<string, number | undefined>>
    const products = productsIn(result)
    currency = products?.[0]?.currency ?? currency
    lowest.value = amountText(from, currency, host.locale)
    highest.value = amountText(to, currency, host.locale)
    form.hidden = !host.mayCall
    // The model may have read fewer fields than the view shows.
    if (products?.every((product) => FIELDS.every((name) => name in product)) === false && host.mayCall) load({ ...args, fields: FIELDS }, false)
    else show(result, false)
  },
  cancelled () { said.textContent = 'The call was cancelled.' }
})

form.addEventListener('submit', async (event) => { event.preventDefault(); await filter() })
form.addEventListener('change', filter)
more.addEventListener('click', async () => { await load({ ...args, skip: shown }, true) })

async function filter (): Promise<void> {
  const [from, to] = [lowest, highest].map((input) => {
    const amount = amountFrom(input.value, currency, host.locale)
    input.setAttribute('aria-invalid', String(amount === undefined))
    return amount
  })
  if (from === undefined || to === undefined) return fail(`A price is a number such as ${amountText(1250, currency, host.locale)}`)
  // What the model asked for beside these stays: a category, a tag.
  const { q: _q, status: _status, price_amount_gte: _from, price_amount_lte: _to, ...others } = (args['filter'] ?? {}) as Readonly<Record<string, unknown>>
  const wanted = { ...others, ...search.value.trim() !== '' && { q: search.value.trim() }, ...status.value !== '' && { status: status.value }, ...from !== null && { price_amount_gte: from }, ...to !== null && { price_amount_lte: to } }
  args = { ...typeof args['shop_id'] === 'string' && { shop_id: args['shop_id'] }, ...Object.keys(wanted).length > 0 && { filter: wanted }, sort: sort.value, limit: PAGE, fields: FIELDS }
  await load(args, false)
}

async function load (call: Readonly<Record<string, unknown>>, isMore: boolean): Promise<void> {
  latest += 1
  const own = latest
  more.disabled = true
  said.textContent = 'Loading…'
  try {
    const result = await host.call('list_products', call)
    // A later filter has overtaken this one.
    if (own === latest) show(result, isMore)
  } catch (error) {
    if (own === latest) fail(String((error as Error).message))
  } finally {
    if (own === latest) more.disabled = false
  }
}

function show (result: ToolResult, isMore: boolean): void {
  const products = productsIn(result)
  if (products === undefined) return fail(textOf(result))
  wrong.hidden = true
  const cards = products.map(card)
  if (isMore) grid.append(...cards)
  else grid.replaceChildren(...cards)
  shown = isMore ? shown + products.length : products.length
  const { headers = {} } = result.structuredContent as { readonly headers?: Readonly<Record<string, string>> }
  const count = Number(/\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1] ?? shown)
  said.textContent = count === 0 ? 'No product matches.' : `${shown} of ${count} products`
  more.hidden = !host.mayCall || shown >= count || typeof args['after'] === 'string'
}

function fail (message: string): void {
  wrong.textContent = message
  wrong.hidden = false
  said.textContent = ''
}

/** @returns undefined for an error */
function productsIn ({ isError = false, structuredContent }: ToolResult): readonly Product[] | undefined {
  const { result } = Object(structuredContent) as { readonly result?: unknown }
  return isError || !Array.isArray(result) ? undefined : result as Product[]
}

function card ({ name, sku, status, price_amount: amount, currency, image_urls: [url] = [] }: Product): HTMLLIElement {
  const price = amount === null || amount === undefined ? 'No price' : moneyText(amount, currency, host.locale)
  return element('li', { class: 'card' },
    picture(url, name),
    element('div', {}, element('bdi', {}, name), element('div', { class: 'quiet' }, sku ?? '')),
    element('p', {}, element('strong', {}, price), element('span', { class: 'quiet' }, STATUSES[status as keyof typeof STATUSES] ?? '')))
}

/** The picture; where there is none, or the host lets none of its server in, the first letter. */
function picture (url: string | undefined, name: string): HTMLElement {
  const letter = element('div', { class: 'picture', 'aria-hidden': 'true' }, [...name ?? ''][0] ?? '')
  if (url === undefined) return letter
  // The name stands beside it.
  const image = element('img', { class: 'picture', alt: '', loading: 'lazy', referrerpolicy: 'no-referrer' })
  image.addEventListener('error', () => { image.replaceWith(letter) })
  image.src = url.startsWith('/') ? ORIGIN + url : url
  return image
}
