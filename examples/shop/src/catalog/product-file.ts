import type { Static, TSchema } from '@sinclair/typebox'
import { Product, ProductInput } from './product-schemas.ts'
import { priceFromAmount } from '../http/money.ts'
import type { ParseJson } from '../http/json-bodies.ts'
import { isJson, typesOf } from '../http/schema-types.ts'

/** What a cell says; null if it is empty and not in quotes. */
export type Cell = string | null

/** A column of a file of products. */
export interface Column {
  /**
   * @param cell - without what keeps a spreadsheet from computing it
   * @returns the value of the field; {@link LEFT_OUT} if the cell says nothing of it
   */
  readonly read: (cell: Cell, parseJson: ParseJson) => unknown
  readonly write: (value: unknown, product: Readonly<Record<string, unknown>>) => string | number | boolean | null
}

export const LEFT_OUT = undefined

type Name = 'id' | keyof Static<typeof ProductInput>

/**
 * The fields of a product in files, in the order of exports: the id and the SKU first, by which lines find their
 * products.
 */
export const FIELDS = [...new Set(['id', 'sku', ...Object.keys(ProductInput.properties)])] as readonly Name[]

/** What people write in place of `price_amount`: 19.99. */
const PRICE: Column = {
  read: (cell) => cell?.trim() || null,
  write: (_value, { price_amount: amount, currency }) =>
    typeof amount === 'number' ? priceFromAmount(amount, String(currency)) : null
}

/** The columns of a file, in the order of exports, which have `price` in place of `price_amount`. */
export const COLUMNS: ReadonlyMap<string, Column> = new Map<string, Column>(FIELDS.flatMap((name) => {
  const column = [name, columnOf(Product.properties[name])] as const
  return name === 'price_amount' ? [['price', PRICE], column] : [column]
}))

/** @throws for a field that no cell can hold */
function columnOf (schema: TSchema): Column {
  const types = typesOf(schema)
  const isNullable = types.includes('null')
  const isText = types.includes('string')
  if (isText && !isWord(schema)) {
    const empty = isNullable ? null : LEFT_OUT
    return { read: (cell) => cell ?? empty, write: asItIs }
  }
  if (isText) return { read: (cell) => cell?.trim() || (isNullable && cell === null ? null : LEFT_OUT), write: asItIs }
  if (types.includes('integer')) return { read: (cell) => numeral(cell, /^-?\d{1,17}$/, isNullable), write: asItIs }
  if (types.includes('number')) {
    return { read: (cell) => numeral(cell, /^-?\d{1,17}(?:\.\d{1,17})?$/, isNullable), write: asItIs }
  }
  if (types.includes('boolean')) return { read: (cell) => truth(cell, isNullable), write: asItIs }
  // Ids and URLs, which have no blanks.
  if (schema['items']?.type === 'string') {
    return {
      read: (cell) => cell?.trim().split(/\s+/).filter((word) => word !== '') ?? [],
      write: (value) => (value as readonly string[]).join(' ')
    }
  }
  if (isJson(schema)) {
    const nothing = types.includes('array') ? [] : {}
    const empty = isNullable ? null : nothing
    return {
      read: (cell, parseJson) => cell === null || cell.trim() === '' ? empty : parseJson(cell),
      write: (value) => value === null ? null : JSON.stringify(value)
    }
  }
  throw new Error(`No column of a file can hold ${JSON.stringify(schema)}`)
}

/** Whether a string is one of several, or has a form: blanks around it mean nothing, and an empty one says nothing. */
function isWord (schema: TSchema): boolean {
  return schema['enum'] !== undefined || schema['format'] !== undefined || schema['pattern']?.startsWith('^') === true
}

function asItIs (value: unknown): ReturnType<Column['write']> {
  return value as string | number | boolean | null
}

/** What is no number is left for the schema to refuse. */
function numeral (cell: Cell, form: RegExp, isNullable: boolean): unknown {
  const digits = cell?.trim() ?? ''
  if (digits === '') return isNullable ? null : LEFT_OUT
  return form.test(digits) ? Number(digits) : digits
}

function truth (cell: Cell, isNullable: boolean): unknown {
  const word = cell?.trim().toLowerCase() ?? ''
  if (word === '') return isNullable ? null : LEFT_OUT
  if (word === 'true') return true
  return word === 'false' ? false : word
}
