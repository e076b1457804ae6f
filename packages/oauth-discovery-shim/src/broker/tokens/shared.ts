import type { ProviderTokens } from './provider-calls.ts'

/** Does the work under a key, or returns what it returned a moment ago. */
export type Shared = (key: string, milliseconds: number, work: () => Promise<ProviderTokens>) => Promise<ProviderTokens>

/**
 * A provider that rotates strictly takes its refresh token once. A client that refreshes twice at the same time, or
 * lost the response, gets what the first request got, as long as this process remembers it: for the time of grace.
 * Failures are not remembered.
 */
export function sharedResults (): Shared {
  const results = new Map<
    string,
    { readonly since: number, readonly until: number, readonly tokens: Promise<ProviderTokens> }
  >()
  return async (key, milliseconds, work) => {
    // In the order in which they were made.
    for (const [old, { until }] of results) {
      if (until > Date.now()) break
      results.delete(old)
    }
    const known = results.get(key)
    if (known !== undefined) {
      const { expiresIn, ...rest } = await known.tokens
      return {
        ...rest,
        ...expiresIn !== undefined &&
          { expiresIn: Math.max(0, expiresIn - Math.ceil((Date.now() - known.since) / 1000)) }
      }
    }
    const tokens = work()
    const since = Date.now()
    results.set(key, { since, until: since + milliseconds, tokens })
    tokens.catch(() => {
      results.delete(key)
    })
    return await tokens
  }
}
