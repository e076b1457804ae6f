import { spawnSync } from 'node:child_process'
import { chromium, type Browser } from 'playwright-core'
import type { Test } from 'tap'

/** The browser: of the environment, or as Debian and Google install it. */
const CHROMIUM = [process.env['CHROMIUM'], 'chromium', '/usr/bin/chromium', 'google-chrome'].find((path) =>
  path !== undefined && spawnSync(path, ['--version']).status === 0
)

/** Why there is no browser to test with, else false. */
export const withoutChromium = CHROMIUM === undefined && 'Chromium is not installed: set CHROMIUM to its path'

/** @throws if there is none */
export async function launchBrowser (): Promise<Browser> {
  const path = spawnSync('sh', ['-c', `command -v ${CHROMIUM}`]).stdout.toString().trim()
  return await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
  })
}

export async function openBrowser (t: Test): Promise<Browser> {
  const browser = await launchBrowser()
  t.teardown(async () => {
    await browser.close()
  })
  return browser
}
