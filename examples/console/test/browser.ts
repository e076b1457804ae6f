import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Frame, Locator, Page } from 'playwright-core'

export interface Person {
  readonly username: string
  readonly password: string
}

/** What went wrong in a page, besides what a test expects: scripts that failed, and what the policy blocked. */
export const faultsOf = new WeakMap<Page, string[]>()

/**
 * Opens the console, which leads to the page of the identity provider.
 *
 * @param locale - the language that the browser prefers
 */
export async function openPage (
  browser: Browser,
  baseUrl: string,
  path = '/console',
  locale = 'en-US'
): Promise<Page> {
  const context = await browser.newContext({
    locale,
    viewport: { width: 1280, height: 860 },
    colorScheme: 'light',
    reducedMotion: 'reduce'
  })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const faults: string[] = []
  faultsOf.set(page, faults)
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    dialog.dismiss().catch(() => {})
  })
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted|Uncaught/.test(message.text())) faults.push(message.text())
  })
  await page.goto(baseUrl + path)
  return page
}

/** Opens the console as somebody, through the page of the identity provider. */
export async function signIn (
  browser: Browser,
  baseUrl: string,
  { username, password }: Person,
  path = '/console',
  locale = 'en-US'
): Promise<Page> {
  const page = await openPage(browser, baseUrl, path, locale)
  await page.fill('#username', username)
  await page.fill('#password', password)
  await page.click('button[type=submit]')
  await page.waitForSelector('header')
  return page
}

/** The question before what was typed is lost. */
export function questionOf (page: Page): Locator {
  return page.getByRole('dialog', { name: 'Discard what you typed?' })
}

/** Answers the question before what was typed is lost. */
export async function answer (page: Page, name: 'Keep editing' | 'Discard'): Promise<void> {
  await questionOf(page).getByRole('button', { name }).click()
  await questionOf(page).waitFor({ state: 'detached' })
}

/**
 * Goes to another screen without loading the page, which would sign in again.
 *
 * @param discards - says so where the console asks whether to discard what was typed; default: it must not ask
 */
export async function goWithin (page: Page, path: string, discards = false): Promise<void> {
  await page.evaluate(
    `old = location.pathname === new URL(${JSON.stringify(path)}, location).pathname ? undefined : ` +
      "document.querySelector('h1'); history.pushState({ idx: (history.state?.idx ?? 0) + 1, key: " +
      `crypto.randomUUID() }, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`
  )
  if (discards) {
    await comesTrue(page, '!old?.isConnected || /Discard what you typed/.test(document.body.innerText)')
    if (await questionOf(page).isVisible()) await answer(page, 'Discard')
  }
  // The old screen stays until the code of the new one is there.
  if (!await comesTrue(page, "!old?.isConnected && document.querySelector('h1') !== null")) {
    throw new Error(`the screen at ${path} has not come`)
  }
  await page.getByRole('heading', { level: 1 }).waitFor()
}

/** Shows the page in the other colours, as the system of a person asks for them. */
export async function inColours (page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await comesTrue(
    page,
    `(/\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0] < 128) === ${colorScheme === 'dark'}`
  )
}

/**
 * Whether it becomes true within ten seconds. Asked from here: the policy of the page allows no expressions that wait
 * in it.
 */
export async function comesTrue (page: Page | Frame, expression: string): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if (await page.evaluate(expression)) return true
    await page.waitForTimeout(50)
  }
  return false
}

/**
 * Writes down in `heard` all that any live region of the page says from now on: what is added to it, not what stood
 * there before.
 */
export async function listen (page: Page): Promise<void> {
  await page.evaluate(`heard = []; globalThis.listener?.disconnect(); listener = new MutationObserver((changes) => {
    const live = '[aria-live], [role=status], [role=alert]'
    for (const { addedNodes, target } of changes) {
      const around = (target.nodeType === 1 ? target : target.parentElement)?.closest(live)
      for (const node of addedNodes) {
        const own = node.nodeType === 1 ? [node, ...node.querySelectorAll('*')] : []
        const loud = own.find((element) => element.matches(live))
        if ((around ?? loud) != null && node.textContent !== '') heard.push((loud ?? node).textContent)
      }
    }
  }); listener.observe(document.body, { subtree: true, childList: true, characterData: true })`)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * @param rules - which ones are checked; default: all
 * @returns what axe finds in the page, or in a frame of it: the rule, and the first elements that break it
 */
export async function violations (page: Page | Frame, rules?: readonly string[]): Promise<readonly string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE)
  const options = { resultTypes: ['violations'], ...rules !== undefined && { runOnly: rules } }
  return await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, help, nodes ` +
      "}) => id + ': ' + help + ' ' + nodes.slice(0, 3).map(({ html, any }) => html.slice(0, 300) + ' ' + " +
      "(any[0]?.message ?? '')).join(' | ')))"
  )
}
