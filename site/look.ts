import { launchBrowser } from '../test/chromium.ts'
import { comesTrue } from '../examples/console/test/browser.ts'
import { SEARCHES } from './searches.ts'

/**
 * Looks at the served site in Chromium, at the width of a phone.
 *
 * @param url - where it starts, with a slash at the end
 * @throws for what a reader would miss
 */
export async function look (url: string, pages: readonly string[]): Promise<void> {
  const wrong: string[] = []
  const browser = await launchBrowser()
  const page = await browser.newPage({ viewport: { width: 360, height: 800 } })
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) wrong.push(`asks ${request.url()}`)
  })
  page.on('pageerror', (error) => wrong.push(`${page.url()}: ${error}`))
  for (const path of pages) {
    const response = await page.goto(url + path)
    if (response?.status() !== 200) wrong.push(`/${path} answers ${response?.status()}`)
    await comesTrue(page, 'document.querySelector("pre.diagram") === null')
    const seen = await page.evaluate(
      '({ wide: document.documentElement.scrollWidth > innerWidth, title: ' +
        'document.querySelector("h1")?.textContent, tables: [...document.querySelectorAll(".vp-doc .cards")]' +
        '.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).length, ' +
        'sources: document.querySelectorAll("pre.diagram").length, ' +
        'broken: [...document.images].filter(({ naturalWidth }) => naturalWidth === 0).length })'
    ) as { wide: boolean, tables: number, title?: string, sources: number, broken: number }
    if (seen.wide) wrong.push(`/${path} is wider than a phone`)
    if (seen.tables > 0) wrong.push(`/${path} has tables to be scrolled sideways`)
    if (!seen.title) wrong.push(`/${path} has no heading`)
    if (seen.sources + seen.broken > 0) wrong.push(`/${path} has pictures that are not drawn`)
  }
  for (const [words, first] of SEARCHES) {
    await page.goto(url)
    // The site remembers the last search, and would show its results first.
    await page.evaluate('sessionStorage.clear()')
    await page.locator('.DocSearch-Button').click()
    await page.locator('.search-input').fill(words)
    const result = page.locator('.results a').first()
    const found = await result.getAttribute('href', { timeout: 10_000 }).catch(() => null)
    if (found?.startsWith(new URL(first, url).pathname + new URL(first, url).hash) !== true) {
      wrong.push(`a search for ${words} finds ${found} first, not ${first}`)
    }
  }
  await browser.close()
  if (wrong.length > 0) throw new Error(`\n${wrong.join('\n')}`)
}
