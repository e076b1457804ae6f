import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { itemsOfPortion } from '../catalog/portion.ts'
import {
  type ItemPreview,
  type ItemProblem,
  nothingSeen,
  ownersOf,
  productBatch,
  type ProductItem,
  type Seen
} from '../catalog/product-batch.ts'
import type { Ready } from '../catalog/product-found.ts'
import { ProductChanges } from '../catalog/product-schemas.ts'
import { conflict, type FieldError } from '../errors.ts'
import { excerpt } from '#shared/excerpt'
import { errorFromValidation } from '../http/problem.ts'
import { typesOf } from '../http/schema-types.ts'
import { Uuid } from '../http/schemas.ts'
import { faultOf } from '../http/storable.ts'
import { cleanText } from '../http/text.ts'
import { jsonValidator } from '../http/validation.ts'
import { SNAPSHOT } from '../lists/page.ts'
import type { ShopScope } from '../access/scope.ts'
import type { Line, LineProblem } from './line.ts'
import type { Note } from './notes.ts'
import { looksRetyped, REMEDY, retyped } from './retyped.ts'
import { roundedPrices } from './rounded-prices.ts'
import { quoted } from './words.ts'

/** `price` is what people write; programs may send `price_amount` instead. */
const FileProduct = Type.Object({
  id: Type.Optional(Uuid()),
  ...ProductChanges.properties,
  price: Type.Optional(
    Type.Unsafe<string | number | null>({
      type: ['string', 'number', 'null'],
      minLength: 1,
      maxLength: 40,
      minimum: 0,
      description: 'Price in major units of the currency: 19.99'
    })
  )
}, { additionalProperties: false })

/** A line of a file, and what it would do or what is wrong with it. */
export interface CheckedLine {
  readonly line: number
  readonly product?: Static<typeof FileProduct>
  readonly preview?: ItemPreview
  readonly problem?: LineProblem
  /** What the file has there. */
  readonly source?: Line['source']
  /** What becomes of its cells. */
  readonly notes?: readonly Note[]
}

/** Checks the lines of files against their schema, the shop, and each other. */
export function importChecker (knex: Knex) {
  const batch = productBatch(knex)
  const isProduct = jsonValidator().compile<Static<typeof FileProduct>>(FileProduct)

  function productOf (
    { product, problem, isFromCells = false, columns }: Line
  ): { readonly product: Static<typeof FileProduct> } | { readonly problem: LineProblem } {
    if (problem !== undefined) return { problem: problemFrom(problem, columns) }
    if (typeof product !== 'object' || product === null || Array.isArray(product)) {
      return { problem: { field: '', message: 'The line is not a JSON object' } }
    }
    const fault = faultOf(product)
    if (fault !== undefined) {
      return { problem: problemFrom({ field: fault.path, message: `${fault.path} ${fault.what}` }, columns) }
    }
    cleanText(FileProduct, product)
    if ('price' in product && 'price_amount' in product) {
      return { problem: { field: 'price', message: 'price and price_amount say the same: leave one of them out' } }
    }
    if (isProduct(product)) return { product }
    const { field, message } = errorFromValidation(isProduct.errors![0] as Parameters<typeof errorFromValidation>[0])
    return {
      problem: problemFrom({
        field,
        message: isFromCells ? explained(message, (product as Readonly<Record<string, unknown>>)[field]) : message
      }, columns)
    }
  }

  /**
   * @param seen - what earlier lines have; this adds its own
   * @returns the lines in their order, each with its preview or its problem
   */
  return async (
    shop: ShopScope,
    lines: readonly Line[],
    seen: Seen = nothingSeen()
  ): Promise<readonly CheckedLine[]> => {
    const read = lines.map((line) => ({
      line: line.line,
      source: line.source,
      notes: line.notes ?? [],
      ...productOf(line)
    }))
    const good = read.flatMap((one, at) => 'product' in one ? [{ at, product: one.product }] : [])
    // Else a product that appears meanwhile is taken for one of somebody else's.
    return await knex.transaction(async (on) => {
      const found = await withTargets(on, shop, good.map(({ product }) => product))
      const checked: CheckedLine[] = [...read]
      const items = await roundedPrices(
        on,
        shop,
        found,
        (index) => lines[good[index]!.at]!.columns !== undefined,
        (index, price, note) => {
          const { at, product } = good[index]!
          checked[at] = { ...read[at]!, product: { ...product, price }, notes: [...read[at]!.notes, note] }
        }
      )
      for (let rest = good, left = items; left.length > 0;) {
        const count = await itemsOfPortion(on, shop, left)
        const fromCells = (item: Ready): boolean => lines[rest[item.index]!.at]!.isFromCells === true
        const { previews, problems } = await batch.preview(
          on,
          shop,
          left.slice(0, count),
          seen,
          (ready) => ready.filter(fromCells).flatMap(retypedIn)
        )
        for (const preview of previews) {
          checked[rest[preview.index]!.at] = { ...checked[rest[preview.index]!.at]!, preview }
        }
        for (const { index, error: { field, message } } of problems) {
          const { at, product } = rest[index]!
          const { line, source, isFromCells = false, columns } = lines[at]!
          checked[at] = {
            line,
            source,
            problem: problemFrom({
              field,
              message: isFromCells ? explained(message, product[field as keyof typeof product]) : message
            }, columns)
          }
        }
        ;[rest, left] = [rest.slice(count), left.slice(count)]
      }
      return checked
    }, SNAPSHOT)
  }
}

/** Fields of free text, which a spreadsheet may take for something else. */
const TEXTS = Object.entries<TSchema>(ProductChanges.properties)
  .filter(([, schema]) =>
    typesOf(schema).includes('string') && schema['enum'] === undefined && schema['format'] === undefined
  ).map(([name]) => name)

/** @returns what a spreadsheet has made of a text that the product has */
function retypedIn ({ index, before, fields }: Ready): readonly ItemProblem[] {
  for (const field of before === null ? [] : TEXTS) {
    const [was, now] = [before![field], fields[field]]
    if (typeof was !== 'string' || typeof now !== 'string' || was === now) continue
    const what = retyped(was, now)
    if (what !== undefined) {
      return [{
        index,
        error: conflict(
          field,
          `${field} is ${quoted(now)}: a spreadsheet has taken ${quoted(was)} for ${what}. ${REMEDY}, or leave ` +
            'it out. If you mean it, change the product by hand or with JSON lines'
        )
      }]
    }
  }
  return []
}

/** @returns the message, and what may have happened if the cell is in a form that only spreadsheets write */
function explained (message: string, cell: unknown): string {
  if (typeof cell !== 'string' || !looksRetyped(cell) || message.includes(REMEDY)) return message
  return `${message}. ${quoted(cell)} looks like what a spreadsheet makes of other texts. ${REMEDY}`
}

/** In characters: messages name what is allowed, and quote the file. */
const LONGEST_MESSAGE = 500

/** @param columns - as of the line: who corrects the file finds the column by the name that it has there */
function problemFrom (
  { field, message, isFatal = false }: Pick<FieldError, 'field' | 'message'> & Partial<LineProblem>,
  columns: Line['columns'] = {}
): LineProblem {
  const storable = (text: string): string => text.replaceAll('\0', '')
  const column = Object.hasOwn(columns, field) ? columns[field]! : field
  const place = column.toLowerCase() === field ? '' : ` (column ${quoted(column)})`
  return {
    field: excerpt(storable(field)),
    message: excerpt(storable(message), LONGEST_MESSAGE - place.length) + storable(place),
    ...isFatal && { isFatal }
  }
}

/**
 * A product of a file is the one with its id; without an id that with its SKU; with neither that with its slug. If
 * there is none it is created.
 *
 * @returns the items, with the ids of the products that there are
 */
export async function withTargets (
  on: Knex,
  shop: Pick<ShopScope, 'id'>,
  items: readonly ProductItem[]
): Promise<readonly ProductItem[]> {
  const open = items.filter(({ id }) => id === undefined)
  const bySku = await ownersOf(on, shop, 'sku', open.flatMap(({ sku }) => sku ?? []))
  const bySlug = await ownersOf(on, shop, 'slug', open.flatMap(({ sku, slug }) => sku == null ? slug ?? [] : []))
  return items.map((item) => {
    if (item.id !== undefined) return item
    const id = item.sku == null ? bySlug.get(item.slug ?? '') : bySku.get(item.sku)
    return id === undefined ? item : { ...item, id }
  })
}
