import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { nothingSeen } from '../catalog/product-batch.ts'
import { importInvalid, invalid, SHOP_GONE } from '../errors.ts'
import { turns } from '../turns.ts'
import { enterAgain } from '../access/shops-reached.ts'
import type { ShopScope } from '../access/scope.ts'
import { importChecker } from './check.ts'
import type { Line } from './line.ts'
import { noteTally } from './notes.ts'
import { changedPrice, priceRanges } from './price-ranges.ts'
import { repeatedProducts } from './repeats.ts'
import { importRepository } from './repository.ts'
import { spreadsheetSigns } from './spreadsheet.ts'
import { CHUNK, type Import, type ImportPreview, LISTED, LISTED_PRICES, MAX_PRODUCTS } from './schemas.ts'
import type { Turn } from './text.ts'
import { leftOutColumns, problemOfColumns } from './unknown-columns.ts'

type Preview = Static<typeof ImportPreview>

/** Does the last step of receiving a file, which makes it an import that others see. */
type Finish<Result> = (enqueue: (on: Knex) => Promise<Static<typeof Import>>) => Promise<Result>

interface Tally {
  preview: { -readonly [Name in keyof Preview]: Preview[Name] }
  /** Of the products to create, about. */
  bytes: number
  /** How many lines have a price. */
  priced: number
  /** Whether the file could be read to its end. */
  isWhole: boolean
  /** Of the columns, if it has them. */
  headings: Line['headings']
}

/** What an import would do, once those that were received before it are over. */
export interface Effects extends Preview {
  /** How many products have a price in the file. */
  readonly priced: number
  /** Whether other imports of the shop are not over. They may change what this one changes. */
  readonly follows: boolean
}

interface Receiving<Result> {
  /** Whether wrong lines are left out. */
  readonly skipInvalid: boolean
  /** As the sender calls the file. Default: it has no name. */
  readonly fileName?: string | undefined
  /** Sees what is stored, and may throw. */
  readonly hold: ((effects: Effects) => void) | undefined
  readonly finish: Finish<Result>
}

/** How many files of a process are read at a time, and how many of a shop: each takes a few megabytes. */
const READ_AT_ONCE = 32
const OF_SHOP = 4

/**
 * Reads files: checks all of their lines, and stores those of imports.
 *
 * @param turn - waited for before lines are checked
 */
export function importReceiver (knex: Knex, turn: Turn) {
  const check = importChecker(knex)
  const imports = importRepository(knex)
  const inTurn = turns({ atOnce: READ_AT_ONCE, share: OF_SHOP })

  /** @param keep - gets the checked lines, as many at a time as fit into memory */
  async function read (
    shop: ShopScope,
    lines: AsyncIterable<Line>,
    keep: (lines: Awaited<ReturnType<typeof check>>, tally: Tally) => Promise<void> = async () => {}
  ): Promise<Tally> {
    const tally: Tally = {
      preview: {
        total: 0,
        created: 0,
        updated: 0,
        unchanged: 0,
        price_changes: 0,
        prices: [],
        changed_prices: [],
        warnings: [],
        unknown_columns: [],
        failed: 0,
        errors: []
      },
      bytes: 0,
      priced: 0,
      isWhole: true,
      headings: undefined
    }
    const { preview } = tally
    const seen = nothingSeen()
    const prices = priceRanges()
    const signs = spreadsheetSigns()
    const foreign = noteTally()
    const repeats = repeatedProducts()
    const aside = ({ line, warning, notes = [], unknown, headings }: Line): void => {
      if (headings !== undefined) tally.headings = headings
      if (unknown !== undefined) {
        preview.unknown_columns.push(...unknown)
        preview.failed += 1
        preview.errors.push({ line, ...problemOfColumns(unknown) })
      }
      if (warning !== undefined) preview.warnings.push(warning)
      for (const note of notes) foreign.add(line, note)
    }
    for await (const chunk of chunks(lines, aside)) {
      if (preview.total + chunk.length > MAX_PRODUCTS) {
        throw invalid('content', `content has more than ${MAX_PRODUCTS} products: send them in several files`)
      }
      await turn()
      // A file may take minutes to come.
      await enterAgain(knex, shop.caller, shop.id)
      const checked = await check(shop, chunk, seen)
      for (const { line, problem, product, preview: item, notes = [] } of checked) {
        preview.total += 1
        if (problem !== undefined) {
          const { field, message, isFatal = false } = problem
          preview.failed += 1
          if (preview.errors.length < LISTED) preview.errors.push({ line, field, message })
          if (isFatal) tally.isWhole = false
        } else if (item !== undefined) {
          for (const note of notes) foreign.add(line, note)
          preview[item.action] += 1
          preview.price_changes += item.changesPrice ? 1 : 0
          if (item.priceChange !== undefined && preview.changed_prices.length < LISTED_PRICES) {
            preview.changed_prices.push({ line, ...changedPrice(item.priceChange) })
          }
          tally.bytes += item.bytes
          prices.add(item)
          repeats.add(line, product!, item)
          signs.add(line, product!, item, item.price?.currency)
          tally.priced += item.price === null && product?.currency === undefined ? 0 : 1
        }
      }
      await keep(checked, tally)
    }
    if (preview.total === 0) throw invalid('content', 'content has no products')
    preview.prices = prices.all()
    preview.warnings.push(...foreign.all(), ...await repeats.all(knex, shop), ...await signs.all(knex, shop))
    return tally
  }

  /** @throws {@link SHOP_IMPORT_INVALID} */
  function refuseWrong (tally: Tally, skipInvalid: boolean): Tally {
    const { preview, isWhole } = tally
    if (preview.failed > 0 && !(skipInvalid && isWhole)) {
      throw importInvalid(preview.total, preview.failed, preview.errors, preview.unknown_columns.length > 0)
    }
    return tally
  }

  /**
   * @param work - reads the lines
   * @param id - of the import, if it has begun
   */
  async function effectsOf (
    shop: ShopScope,
    work: () => Promise<Tally>,
    id?: string
  ): Promise<Effects & Pick<Tally, 'bytes' | 'headings'>> {
    // One that ends meanwhile may have changed what was read before.
    const followed = await imports.follows(shop, id)
    const { preview, priced, bytes, headings } = await work()
    return { ...preview, priced, bytes, headings, follows: followed || await imports.follows(shop, id) }
  }

  async function receive<Result> (
    shop: ShopScope,
    lines: AsyncIterable<Line>,
    { skipInvalid, fileName, hold, finish }: Receiving<Result>
  ): Promise<Result> {
    const id = await imports.begin(shop, fileName)
    let isLeft = true
    try {
      const effects = await effectsOf(
        shop,
        async () =>
          refuseWrong(
            await read(shop, lines, async (checked, { preview }) => {
              if (preview.failed === 0 || skipInvalid) {
                await imports.addLines(shop, id, checked, preview.total - checked.length)
              }
            }),
            skipInvalid
          ),
        id
      )
      hold?.(effects)
      const { unknown_columns: columns, warnings, headings } = effects
      if (headings !== undefined) await imports.addHeadings(shop, id, headings)
      await imports.addWarnings(shop, id, [...columns.length > 0 ? [leftOutColumns(columns)] : [], ...warnings])
      await imports.refuseBeyondQuota(shop, effects.created, effects.bytes)
      return await finish(async (on) => {
        const made = await imports.enqueue(shop, id, effects, on)
        isLeft = false
        return made
      })
    } catch (error) {
      isLeft = true
      // The import went with its shop.
      throw (error as { code?: string }).code === '23503' ? new SHOP_GONE() : error
    } finally {
      if (isLeft) await imports.discard(shop, id).catch(() => {})
    }
  }

  return {
    /** @returns what an import would do now */
    async preview (shop: ShopScope, lines: AsyncIterable<Line>): Promise<Preview> {
      return await inTurn([shop.id], async () => (await read(shop, lines)).preview)
    },

    /**
     * @returns what `receive` would do now
     * @throws what it would throw for the lines
     */
    async effects (shop: ShopScope, lines: AsyncIterable<Line>, skipInvalid: boolean): Promise<Effects> {
      return await effectsOf(
        shop,
        async () => refuseWrong(await inTurn([shop.id], async () => await read(shop, lines)), skipInvalid)
      )
    },

    /**
     * Stores an import, to be applied in the background.
     *
     * @returns what `finish` does
     * @throws {@link SHOP_IMPORT_INVALID} with every wrong line, unless they are left out; and if lines behind one
     *   cannot be read
     * @throws {@link SHOP_INVALID} | {@link SHOP_QUOTA_EXCEEDED} | {@link SHOP_TOO_MANY_IMPORTS} | {@link SHOP_GONE}
     */
    async receive<Result> (
      shop: ShopScope,
      lines: AsyncIterable<Line>,
      options: Receiving<Result>
    ): Promise<Result> {
      return await inTurn([shop.id], async () => await receive(shop, lines, options))
    }
  }
}

/** In characters: what is checked at a time, or one line more. */
const CHUNK_SIZE = 131_072

/**
 * Lines in groups that are checked together.
 *
 * @param aside - gets those that are no products, and have nothing wrong
 */
async function* chunks (lines: AsyncIterable<Line>, aside: (line: Line) => void): AsyncGenerator<readonly Line[]> {
  let [chunk, size]: [Line[], number] = [[], 0]
  for await (const line of lines) {
    if (line.product === undefined && line.problem === undefined) {
      aside(line)
      continue
    }
    chunk.push(line)
    size += line.size
    if (chunk.length < CHUNK && size < CHUNK_SIZE) continue
    yield chunk
    ;[chunk, size] = [[], 0]
  }
  if (chunk.length > 0) yield chunk
}
