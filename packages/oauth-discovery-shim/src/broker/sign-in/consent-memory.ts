import type { Browser } from './browser.ts'
import type { Sealer } from '../seal.ts'

/**
 * What was allowed in this browser: names of clients and callbacks, and until when, in seconds since 1970. Newest
 * first.
 */
type Allowed = Readonly<Record<string, number>>

/** The cookie would otherwise outgrow what servers and proxies accept. */
const MOST = 20

function allowedIn (sealer: Sealer, browser: Browser): Allowed {
  return sealer.open<Allowed>('consent', browser.consent()) ?? {}
}
/** Whether somebody allowed this in this browser before, and it still counts. */
export function remembers (sealer: Sealer, browser: Browser, name: string): boolean {
  const until = allowedIn(sealer, browser)[name]
  return until !== undefined && until * 1000 > Date.now()
}

/** @returns the cookie with one more, for so many milliseconds */
export function rememberedWith (sealer: Sealer, browser: Browser, name: string, duration: number): string {
  const all = [[name, Math.floor((Date.now() + duration) / 1000)] as const, ...others(sealer, browser, name)].slice(
    0,
    MOST
  )
  return sealer.seal('consent', Object.fromEntries(all))
}

/** @returns the cookie with one less */
export function forgotten (sealer: Sealer, browser: Browser, name: string): string {
  return sealer.seal('consent', Object.fromEntries(others(sealer, browser, name)))
}

function others (sealer: Sealer, browser: Browser, name: string): ReadonlyArray<readonly [string, number]> {
  return Object.entries(allowedIn(sealer, browser)).filter(([other]) => other !== name)
}
