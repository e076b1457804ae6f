import type { Cell } from '../catalog/product-file.ts'
import {
  type Reading,
  slugFromAddress,
  statusOfOnline,
  statusOfShopify,
  textFromHtml,
  textFromWooCommerce
} from './foreign-cells.ts'
import { listed, quoted } from './words.ts'

type ByHeading = (heading: string) => string

/** How the product file of another system is read: its headings, and what its cells mean here. */
export interface Preset {
  readonly system: string
  /** The columns that are read, by heading in lower case. All others are left out. */
  readonly columns: Readonly<Record<string, string>>
  /** Headings that no file without them is taken for. */
  readonly marks: readonly string[]
  /** What people should know of such files, in sentences without a point. */
  readonly says?: readonly string[]
  /** The cells of a column in the words of a product. */
  readonly words?: Readonly<Record<string, (cell: string) => Reading>>
  /** What else the product has, by what its columns say. */
  readonly finish?: (product: Readonly<Record<string, unknown>>) => object
  /**
   * @param cell - of the line, by heading in lower case
   * @param name - how the file spells a heading
   * @returns why the line cannot be a product here; `'more'` if it only says more about the line before, in columns
   *   that are left out
   */
  readonly refusal: (cell: ByHeading, name: ByHeading) => string | 'more' | undefined
}

/**
 * @param what - shows that the line is one of several of a product
 * @param how - makes it a product of its own, together with the own cells: with both, the line is not refused again
 * @param handle - the column of the address, which no two products share; undefined if that is not read
 */
function variant (what: string, how: string | undefined, handle?: string): string {
  const own = listed(['a name', 'an SKU', ...handle === undefined ? [] : [`a "${handle}"`]])
  const remedy = [`give it ${own} of its own`, ...how === undefined ? [] : [how]].join(', and ')
  return `${what}, and products here have no variants. To make it a product, ${remedy}`
}

/** Has the size or the colour of a variant, or `Default Title`. */
const OPTION = 'option1 value'

const shopifyRefusal = (title: string, sku: string, price: string, handle: string): Preset['refusal'] =>
(
  cell,
  name
) => {
  const option = cell(OPTION)
  if (!['', 'Default Title'].includes(option)) {
    return variant(`its "${name(OPTION)}" is ${quoted(option)}`, `empty "${name(OPTION)}"`, name(handle))
  }
  if (cell(title) !== '') return undefined
  return cell(sku) === '' && cell(price) === ''
    ? 'more'
    : variant(`it has no "${name(title)}"`, undefined, name(handle))
}

/** The headings of a WooCommerce export, which are in the language of the site. */
interface WooCommerceHeadings {
  readonly type: string
  readonly sku: string
  readonly name: string
  readonly published: string
  readonly description: string
  readonly price: string
}

const wooCommerce = ({ type, sku, name, published, description, price }: WooCommerceHeadings): Preset => ({
  system: 'WooCommerce',
  marks: [type, name, price],
  columns: {
    [sku]: 'sku',
    [name]: 'name',
    [published]: 'status',
    [description]: 'description',
    [price]: 'price'
  },
  words: { description: textFromWooCommerce, status: statusOfOnline },
  refusal: (cell, name) => {
    const kinds = cell(type).toLowerCase().split(/,\s*/)
    return kinds.some((kind) => ['variable', 'variation', 'grouped'].includes(kind))
      ? variant(`its "${name(type)}" is ${quoted(cell(type))}`, `set "${name(type)}" to "simple"`)
      : undefined
  }
})

/** The headings of an Etsy export, which are in the language of the shop. */
interface EtsyHeadings {
  readonly title: string
  readonly description: string
  readonly price: string
  readonly currency: string
  readonly sku: string
  readonly variation: string
}

const etsy = ({ title, description, price, currency, sku, variation }: EtsyHeadings): Preset => ({
  system: 'Etsy',
  marks: [title, price, currency],
  columns: { [title]: 'name', [description]: 'description', [price]: 'price', [currency]: 'currency', [sku]: 'sku' },
  words: { description: (cell) => textFromHtml(cell, true) },
  refusal: (cell, name) => {
    if (cell(variation) !== '') return variant('it has variations', `empty "${name(variation)}"`)
    return cell(sku).includes(',')
      ? variant(`its "${name(sku)}" has several`, `leave one of them in "${name(sku)}"`)
      : undefined
  }
})

export const PRESETS: readonly Preset[] = [
  {
    system: 'Shopify',
    marks: ['handle', 'variant price'],
    columns: {
      handle: 'slug',
      title: 'name',
      'body (html)': 'description',
      'variant sku': 'sku',
      'variant price': 'price',
      status: 'status'
    },
    words: { slug: slugFromAddress, description: (cell) => textFromHtml(cell), status: statusOfShopify },
    refusal: shopifyRefusal('title', 'variant sku', 'variant price', 'handle')
  },
  {
    system: 'Shopify',
    marks: ['url handle', 'title', 'price'],
    columns: {
      'url handle': 'slug',
      title: 'name',
      description: 'description',
      sku: 'sku',
      price: 'price',
      status: 'status'
    },
    words: { slug: slugFromAddress, description: (cell) => textFromHtml(cell), status: statusOfShopify },
    refusal: shopifyRefusal('title', 'sku', 'price', 'url handle')
  },
  wooCommerce({
    type: 'type',
    sku: 'sku',
    name: 'name',
    published: 'published',
    description: 'description',
    price: 'regular price'
  }),
  wooCommerce({
    type: 'typ',
    sku: 'artikelnummer',
    name: 'name',
    published: 'veröffentlicht',
    description: 'beschreibung',
    price: 'regulärer preis'
  }),
  wooCommerce({
    type: 'type',
    sku: 'ugs',
    name: 'nom',
    published: 'publié',
    description: 'description',
    price: 'tarif régulier'
  }),
  wooCommerce({
    type: 'tipo',
    sku: 'sku',
    name: 'nombre',
    published: 'publicado',
    description: 'descripción',
    price: 'precio normal'
  }),
  wooCommerce({
    type: 'tipo',
    sku: 'cod',
    name: 'nome',
    published: 'pubblicato',
    description: 'descrizione',
    price: 'prezzo di listino'
  }),
  wooCommerce({
    type: 'type',
    sku: 'sku',
    name: 'naam',
    published: 'gepubliceerd',
    description: 'beschrijving',
    price: 'reguliere prijs'
  }),
  etsy({
    title: 'title',
    description: 'description',
    price: 'price',
    currency: 'currency_code',
    sku: 'sku',
    variation: 'variation 1 type'
  }),
  etsy({
    title: 'titel',
    description: 'beschreibung',
    price: 'preis',
    currency: 'währungscode',
    sku: 'bestandseinheit',
    variation: 'variationstyp 1'
  }),
  {
    system: 'Magento',
    marks: ['sku', 'product_type', 'attribute_set_code'],
    columns: {
      sku: 'sku',
      name: 'name',
      description: 'description',
      price: 'price',
      product_online: 'status',
      url_key: 'slug'
    },
    words: {
      slug: slugFromAddress,
      description: (cell) => textFromHtml(cell),
      // Two is the older word for no.
      status: (cell) => statusOfOnline(cell === '2' ? '0' : cell)
    },
    refusal: (cell, name) => {
      // The same product in the words of another view of the store.
      if (cell('store_view_code') !== '') return 'more'
      const [kind, type] = [cell('product_type'), name('product_type')]
      if (['configurable', 'grouped', 'bundle'].includes(kind.toLowerCase())) {
        return variant(`its "${type}" is ${quoted(kind)}`, `set "${type}" to "simple"`, name('url_key'))
      }
      return cell('visibility') === 'Not Visible Individually'
        ? variant(
          'it is not visible individually',
          `set "${name('visibility')}" to "Catalog, Search"`,
          name('url_key')
        )
        : undefined
    }
  },
  {
    system: 'Google Merchant',
    marks: ['id', 'title', 'link', 'availability'],
    columns: { id: 'sku', title: 'name', description: 'description', price: 'price' },
    words: { description: (cell) => textFromHtml(cell, true) },
    finish: ({ price }) => {
      // It names its currency: 15.00 USD.
      const [, amount, currency] = /^(\S+) ?([A-Z]{3})$/.exec(String(price ?? '')) ?? []
      return amount === undefined ? {} : { price: amount, currency }
    },
    refusal: (cell, name) => {
      const group = ['item group id', 'item_group_id'].find((heading) => cell(heading) !== '')
      return group === undefined ? undefined : variant(`it has an "${name(group)}"`, `empty "${name(group)}"`)
    }
  },
  {
    system: 'PrestaShop',
    marks: ['name *', 'price tax excluded'],
    says: ['Its prices are without tax'],
    columns: {
      'active (0/1)': 'status',
      'name *': 'name',
      'price tax excluded': 'price',
      'reference #': 'sku',
      description: 'description',
      'url rewritten': 'slug'
    },
    words: { slug: slugFromAddress, description: (cell) => textFromHtml(cell), status: statusOfOnline },
    refusal: () => undefined
  }
]

/** The systems whose files are known. */
export const SYSTEMS: readonly string[] = [...new Set(PRESETS.map(({ system }) => system))]

/** @returns how a file with these headings is read; undefined if its columns are those of this server, or nobody's */
export function presetOf (headings: readonly string[]): Preset | undefined {
  return PRESETS.find(({ marks }) => marks.every((mark) => headings.includes(mark)))
}

/** What a preset makes of a cell; without one, it says what it says. */
export function readingOf (preset: Preset | undefined, column: string, cell: Cell): Reading {
  if (cell === null) return { cell }
  return preset?.words?.[column]?.(cell.trim()) ?? { cell }
}
