// npm run bench -w examples/console: what the page costs whoever looks at it, in Chromium. The first screen on the
// embedded demo, and the list of products in shops of 1,000 and of 100,000, on the PostgreSQL server in
// TEST_DATABASE_URL: how long each step takes until its answer is painted, and the longest time for which the page does
// not respond. In turn, medians of rounds. Exits with 1 if a figure is missed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { fillShops, settle, WORDS } from '../../shop/bench/fill.ts'
import { median } from '../../shop/bench/saturation.ts'
import { onDatabase } from '../../shop/bench/shop.ts'
import { openPostgres } from '../../shop/src/database/index.ts'
import { readDemo } from '../../shop/test/process.ts'
import { launchBrowser } from '../../../test/chromium.ts'
import { signIn } from '../test/browser.ts'

const ROUNDS = 5
const SIZES = { small: 1000, large: 100_000 }

/** The most milliseconds that a step takes, and for which the page does not respond. */
const LIMITS = { first: 1500, step: 1000, frame: 100 }

const browser = await launchBrowser()

/** Runs a demo on the database at the URL, or on an embedded one. */
async function onDemo (url: string, work: (baseUrl: string, directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'console-bench-'))
  const script = fileURLToPath(new URL('../../shop/dist/demo/start.js', import.meta.url))
  const demo = spawn(process.execPath, [script], {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: directory, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(demo, 'exit')
  try {
    await work(await addressFrom(demo.stdout), directory)
  } finally {
    demo.kill()
    await ended
    rmSync(directory, { recursive: true })
  }
}

/** @throws with what the demo printed, when it ends instead */
async function addressFrom (output: Readable): Promise<string> {
  let printed = ''
  return await new Promise((resolve, reject) => {
    output.on('data', (data) => {
      printed += String(data)
      const [, baseUrl] = /MCP endpoint\s+(http:\/\/[^/\s]+)/.exec(printed) ?? []
      if (baseUrl !== undefined) resolve(baseUrl)
    })
    output.on('end', () => reject(new Error(printed)))
  })
}

/** From the return of the identity provider until the charts of the first screen are there. */
async function measureFirst (baseUrl: string, directory: string): Promise<void> {
  const kim = personOf(directory, 'kim')
  const times = []
  for (let round = 0; round < ROUNDS; round++) {
    const page = await signIn(browser, baseUrl, kim)
    await page.getByRole('region', { name: 'Agents at work' }).waitFor()
    times.push(await page.evaluate('performance.now()') as number)
    await page.context().close()
  }
  check('the first screen is usable after', median(times), LIMITS.first)
}

/** What somebody does, and what the page then asks the server for. */
type Step = readonly [name: string, act: (page: Page) => Promise<unknown>, request: RegExp]

const search = (word: string) => async (page: Page) => await page.getByRole('textbox', { name: /search/i }).fill(word)

const STEPS: readonly Step[] = [
  ['open the list', async (page) => await page.getByRole('menuitem', { name: 'Products' }).click(), /sort=\["name"/],
  [
    'sort by price',
    async (page) => await page.getByRole('columnheader').getByRole('button', { name: 'Price' }).click(),
    /sort=\["price_amount"/
  ],
  ['next page', async (page) => await page.getByRole('button', { name: 'Go to next page' }).click(), /skip=25/],
  ['filter by status', async (page) => {
    await page.getByRole('button', { name: 'Status', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Draft' }).click()
    await page.keyboard.press('Escape')
  }, /"status":\["draft"\]/],
  ['search a rare word among drafts', search(WORDS.rare), new RegExp(WORDS.rare)],
  ['search a word of all drafts', search(WORDS.common), new RegExp(WORDS.common)],
  ['search a word of none', search(WORDS.absent), new RegExp(WORDS.absent)]
]

async function measureLists (url: string, baseUrl: string, directory: string): Promise<void> {
  const database = openPostgres(url)
  for (const [slug, count] of Object.entries(SIZES)) await fillShops(database.knex, [slug], count)
  await settle(database.knex)
  await database.close()
  const times = new Map<string, Record<string, number[]>>()
  const longest: Record<string, number[]> = { small: [], large: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const slug of Object.keys(SIZES)) {
      const page = await signIn(browser, baseUrl, personOf(directory, 'ada'), `/console/shops/${slug}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.evaluate(
        'blocked = [0]; new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) ' +
          "blocked.push(duration) }).observe({ type: 'longtask', buffered: false })"
      )
      for (const [name, act, request] of STEPS) {
        const of = times.get(name) ?? { small: [], large: [] }
        times.set(name, of)
        of[slug]!.push(
          await timeOf(page, act, request).catch((error: unknown) => {
            throw new Error(`${name} of ${slug}`, { cause: error })
          })
        )
      }
      longest[slug]!.push(Math.max(...await page.evaluate('blocked') as number[]))
      await page.context().close()
    }
  }
  console.table(
    Object.fromEntries(
      [...times].map((
        [name, { small, large }]
      ) => [name, {
        '1,000: ms': Math.round(median(small!)),
        '100,000: ms': Math.round(median(large!)),
        growth: Number((median(large!) / median(small!)).toFixed(1))
      }])
    )
  )
  for (const [name, { large }] of times) check(`100,000 products, ${name}`, median(large!), LIMITS.step)
  console.log(
    `the longest time for which the page does not respond: ${Math.round(median(longest['small']!))} ms with ` +
      '1,000 products'
  )
  check('the same with 100,000', median(longest['large']!), LIMITS.frame)
}

/** Milliseconds from an action until the answer to its request has been painted. */
async function timeOf (page: Page, act: (page: Page) => Promise<unknown>, request: RegExp): Promise<number> {
  const answer = page.waitForResponse((response) =>
    /\/products\?/.test(response.url()) && request.test(decodeURIComponent(response.url()))
  )
  const start = performance.now()
  await act(page)
  await (await answer).finished()
  await page.evaluate('new Promise((resolve) => requestIdleCallback(() => requestAnimationFrame(resolve)))')
  return performance.now() - start
}

function personOf (directory: string, name: string) {
  return readDemo(directory).users.find(({ username }) => username === name)!
}

function check (what: string, milliseconds: number, most: number): void {
  const isGood = milliseconds <= most
  console.log(`${isGood ? 'ok  ' : 'MISS'} ${what} ${Math.round(milliseconds)} ms (at most ${most})`)
  if (!isGood) process.exitCode = 1
}

console.log(`load ${loadavg()[0]!.toFixed(1)}`)
try {
  await onDemo('', measureFirst)
  await onDatabase('large shops', async (url) => {
    await onDemo(url, async (baseUrl, directory) => await measureLists(url, baseUrl, directory))
  })
} finally {
  await browser.close()
}
