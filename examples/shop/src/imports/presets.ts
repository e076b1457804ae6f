import type { Cell } from './columns.ts'

/** How the product file of another system is read: its headings, and what its cells mean here. */
export interface Preset {
  readonly system: string
  /** The columns that are read, by heading in lower case. All others are left out. */
  readonly columns: Readonly<Record<string, string>>
  /** Headings that no file without them is taken for. */
  readonly marks: readonly string[]
  /** The cells of a column in the words of a product. */
  readonly words?: Readonly<Record<string, (cell: string) => string>>
  /**
   * @param cell - of the line, by heading in lower case
   * @returns why the line cannot be a product here; `'more'` if it only says more about the line before, in columns
   *   that are left out
   */
  readonly refusal: (cell: (heading: string) => string) => string | 'more' | undefined
}

const VARIANT = 'it is a variant, and products here have none: give each its own line, name and SKU'

/** Any status but those of this list is left for the schema to refuse. */
const lower = (cell: string): string => cell.toLowerCase()
const live = (cell: string): string => ({ 1: 'active', 0: 'draft', '-1': 'draft' })[cell] ?? cell

const shopifyRefusal = (title: string, sku: string, price: string): Preset['refusal'] => (cell) => {
  if (!['', 'Default Title'].includes(cell('option1 value'))) return VARIANT
  if (cell(title) !== '') return undefined
  return cell(sku) === '' && cell(price) === '' ? 'more' : VARIANT
}

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
    words: { status: lower },
    refusal: shopifyRefusal('title', 'variant sku', 'variant price')
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
    words: { status: lower },
    refusal: shopifyRefusal('title', 'sku', 'price')
  },
  {
    system: 'WooCommerce',
    marks: ['type', 'name', 'regular price'],
    columns: { sku: 'sku', name: 'name', published: 'status', description: 'description', 'regular price': 'price' },
    words: { status: live },
    refusal: (cell) => {
      const kinds = cell('type').toLowerCase().split(/,\s*/)
      return kinds.some((kind) => ['variable', 'variation', 'grouped'].includes(kind))
        ? `its type is ${cell('type')}: ${VARIANT}`
        : undefined
    }
  },
  {
    system: 'Etsy',
    marks: ['title', 'price', 'currency_code'],
    columns: { title: 'name', description: 'description', price: 'price', currency_code: 'currency', sku: 'sku' },
    refusal: (cell) =>
      cell('variation 1 type') !== '' || cell('sku').includes(',') ? `it has variations: ${VARIANT}` : undefined
  },
  {
    system: 'PrestaShop',
    marks: ['name *', 'price tax excluded'],
    columns: {
      'active (0/1)': 'status',
      'name *': 'name',
      'price tax excluded': 'price',
      'reference #': 'sku',
      description: 'description',
      'url rewritten': 'slug'
    },
    words: { status: live },
    refusal: () => undefined
  }
]

/** @returns how a file with these headings is read; undefined if its columns are those of this server, or nobody's */
export function presetOf (headings: readonly string[]): Preset | undefined {
  return PRESETS.find(({ marks }) => marks.every((mark) => headings.includes(mark)))
}

/** What a preset makes of a cell. */
export function cellFrom ({ words }: Preset, column: string, cell: Cell): Cell {
  if (cell === null) return null
  return words?.[column]?.(cell.trim()) ?? cell
}
