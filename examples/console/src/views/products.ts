import type { Product as ProductSchema } from '../../../shop/src/catalog/product-schemas.ts'
import { amountText, moneyText } from '../money.ts'
import { filterOfRange, isBadEnd, type PriceFilter, rangeOfFilter } from '../price-filter.ts'
import { element } from './element.ts'
import { connect, textOf, type ToolResult } from './host.ts'

/*
 * The view of list_products: pictures and prices, which a person filters. Each filter is a call of the tool, as whoever
 * has the conversation.
 */

type Product = typeof ProductSchema['static']

const FIELDS = ['id', 'name', 'sku', 'status', 'price_amount', 'currency', 'image_urls']
const PAGE = 24
const SORTS = {
  name: 'Name',
  price_amount: 'Lowest price',
  '-price_amount': 'Highest price',
  '-updated_at': 'Newest changes'
}
const STATUSES = { '': 'All', active: 'Active', draft: 'Draft', archived: 'Archived' }
/** Where paths of the server lead. */
const ORIGIN = document.documentElement.dataset['origin'] ?? ''

const field = (label: string | HTMLElement, input: HTMLElement): HTMLLabelElement => element('label', {}, label, input)
const select = (name: string, options: Readonly<Record<string, string>>): HTMLSelectElement =>
  element('select', { name }, ...Object.entries(options).map(([value, label]) => element('option', { value }, label)))

const search = element('input', { name: 'q', type: 'search', autocomplete: 'off' })
const status = select('status', STATUSES)
const lowest = element('input', { name: 'from', inputmode: 'decimal', autocomplete: 'off', disabled: true })
const highest = element('input', { name: 'to', inputmode: 'decimal', autocomplete: 'off', disabled: true })
const [lowestName, highestName] = [element('span', {}, 'Price from'), element('span', {}, 'Price to')]
const sort = select('sort', SORTS)
const form = element(
  'form',
  { role: 'search', hidden: true },
  field('Search', search),
  field('Status', status),
  field(lowestName, lowest),
  field(highestName, highest),
  field('Order', sort)
)
const said = element('div', { role: 'status' }, 'Waiting for the products…')
const wrong = element('div', { role: 'alert', hidden: true })
const grid = element('ul', { class: 'grid' })
const more = element('button', { type: 'button', hidden: true }, 'Show more')
document.body.append(element('main', {}, element('h1', {}, 'Products'), form, wrong, said, grid, more))

let args: Readonly<Record<string, unknown>> = {}
/** Of the prices that are typed; undefined while no product is known that has one. */
let currency: string | undefined
/** The currencies that the model asked for. */
let asked: PriceFilter['currency']
let latest = 0
let shown = 0

const host = await connect('shop-products', {
  input (given) {
    args = given
    const { filter = {}, sort: order = 'name' } = given as {
      readonly filter?: Readonly<Record<string, unknown>>,
      readonly sort?: string
    }
    asked = filter['currency'] as PriceFilter['currency']
    search.value = typeof filter['q'] === 'string' ? filter['q'] : ''
    status.value = typeof filter['status'] === 'string' && filter['status'] in STATUSES ? filter['status'] : ''
    if (order in SORTS) sort.value = order
  },
  result (result) {
    const products = productsIn(result)
    form.hidden = !host.mayCall
    // The model may have read fewer fields than the view shows.
    if (products?.every((product) => FIELDS.every((name) => name in product)) === false && host.mayCall) {
      load({ ...args, fields: FIELDS }, false)
    } else show(result, false)
  },
  cancelled () {
    said.textContent = 'The call was cancelled.'
  }
})

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  await filter()
})
form.addEventListener('change', filter)
more.addEventListener('click', async () => {
  await load({ ...args, skip: shown }, true)
})

/** Shows the range of prices of the filter, in its currency or that of the products, and says which that is. */
function showRange (products: readonly Product[]): void {
  const filter = (args['filter'] ?? {}) as PriceFilter
  const priced = products.find(({ price_amount: amount }) => amount !== null)
  const range = rangeOfFilter(filter, priced?.currency ?? currency ?? '', host.locale)
  if (range.currency === '') return
  currency = range.currency
  lowestName.textContent = `Price from (${currency})`
  highestName.textContent = `Price to (${currency})`
  for (const input of [lowest, highest]) input.disabled = false
  lowest.value = range.from
  highest.value = range.to
}

function isAnyPrice (): boolean {
  return lowest.value.trim() === '' && highest.value.trim() === ''
}

async function filter (): Promise<void> {
  // What the model asked for beside these stays: a category, a tag.
  const { q: _q, status: _status, ...others } = (args['filter'] ?? {}) as Readonly<Record<string, unknown>>
  const prices = pricesOf(others)
  if (prices === undefined) return fail(`A price is a number such as ${amountText(1250, currency!, host.locale)}`)
  const { currency: _currency, price_amount_gte: _from, price_amount_lte: _to, ...rest } = others
  const wanted = {
    ...rest,
    ...prices,
    ...search.value.trim() !== '' && { q: search.value.trim() },
    ...status.value !== '' && { status: status.value }
  }
  args = {
    ...typeof args['shop_id'] === 'string' && { shop_id: args['shop_id'] },
    ...Object.keys(wanted).length > 0 && { filter: wanted },
    sort: sort.value,
    limit: PAGE,
    fields: FIELDS
  }
  await load(args, false)
}

/**
 * @param before - the filter, whose prices stay while nobody can type others
 * @returns the prices that are wanted; undefined if an end is none
 */
function pricesOf ({ price_amount_gte: from, price_amount_lte: to }: PriceFilter): PriceFilter | undefined {
  const known = { ...from !== undefined && { price_amount_gte: from }, ...to !== undefined && { price_amount_lte: to } }
  if (currency === undefined) return known
  const range = { currency, from: lowest.value, to: highest.value }
  lowest.setAttribute('aria-invalid', String(isBadEnd(range, 'from', host.locale)))
  highest.setAttribute('aria-invalid', String(isBadEnd(range, 'to', host.locale)))
  if (isAnyPrice()) return asked === undefined ? {} : { currency: asked }
  return filterOfRange(range, host.locale)
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
  // What is typed keeps its currency.
  if (isAnyPrice()) showRange(products)
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
  return element(
    'li',
    { class: 'card' },
    picture(url, name),
    element('div', {}, element('bdi', {}, name), element('div', { class: 'quiet' }, sku ?? '')),
    element(
      'p',
      {},
      element('strong', {}, price),
      element('span', { class: 'quiet' }, STATUSES[status as keyof typeof STATUSES] ?? '')
    )
  )
}

/** The picture; where there is none, or the host lets none of its server in, the first letter. */
function picture (url: string | undefined, name: string): HTMLElement {
  const letter = element('div', { class: 'picture', 'aria-hidden': 'true' }, [...name ?? ''][0] ?? '')
  if (url === undefined) return letter
  // The name stands beside it.
  const image = element('img', { class: 'picture', alt: '', loading: 'lazy', referrerpolicy: 'no-referrer' })
  image.addEventListener('error', () => {
    image.replaceWith(letter)
  })
  image.src = url.startsWith('/') ? ORIGIN + url : url
  return image
}
