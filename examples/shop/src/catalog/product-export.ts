import type { Readable, Writable } from 'node:stream'
import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { BYTE_ORDER_MARK, csvLine } from '#shared/csv-line'
import { COLUMNS, FIELDS } from './product-file.ts'
import { type FileFormat, sentFiles } from '../http/sent-files.ts'
import { narrow } from '../lists/filters.ts'
import { enterAgain } from '../access/shops-reached.ts'
import type { ShopScope } from '../access/scope.ts'
import { productRows } from './product-repository.ts'
import { list, type Product } from './product-schemas.ts'

type Row = Static<typeof Product>

/** How many products are read at a time, and at most how many bytes: as many as fit on the page of a list. */
const PAGE = 200

const columns = [...COLUMNS].filter(([name]) => name !== 'price_amount')

/** Writes the products of shops as files that can be imported. */
export function productExport (knex: Knex) {
  const rows = productRows(knex)
  const sent = sentFiles()

  /**
   * In the order of their ids, which never change: each product that exists all the while, and matches, is in the file
   * once. Nothing is held open between pages.
   */
  async function* pages (
    shop: ShopScope,
    filter: Readonly<Record<string, unknown>> | undefined
  ): AsyncGenerator<readonly Row[]> {
    let last: string | undefined
    for (;;) {
      const matching = knex('products').where({ shop_id: shop.id })
      narrow(matching, list.filters, filter)
      if (last !== undefined) {
        // A file may take hours.
        await enterAgain(knex, shop.caller, shop.id)
        matching.where('id', '>', last)
      }
      const page = await rows.first(shop, matching, PAGE)
      if (page.length === 0) return
      yield page
      last = page.at(-1)!.id
    }
  }

  async function* written (
    shop: ShopScope,
    filter: Readonly<Record<string, unknown>> | undefined,
    format: FileFormat
  ): AsyncGenerator<string> {
    if (format === 'csv') yield `${BYTE_ORDER_MARK}${columns.map(([name]) => name).join(',')}\r\n`
    for await (const page of pages(shop, filter)) yield page.map(format === 'csv' ? csvFrom : jsonFrom).join('')
  }

  return {
    /**
     * @param client - the response; when it closes, no more is read
     * @returns the file, which is read from the database as fast as the client takes it
     * @throws {@link SHOP_TOO_MANY_CONCURRENT_CALLS} if too many of the shop's files are on their way
     */
    open (
      shop: ShopScope,
      filter: Readonly<Record<string, unknown>> | undefined,
      format: FileFormat,
      client: Writable
    ): Readable {
      return sent.open(shop, written(shop, filter, format), client)
    }
  }
}

function csvFrom (product: Row): string {
  return csvLine(columns.map(([name, { write }]) => write(product[name as keyof Row], product)))
}

function jsonFrom (product: Row): string {
  return `${JSON.stringify(Object.fromEntries(FIELDS.map((name) => [name, product[name]])))}\n`
}
