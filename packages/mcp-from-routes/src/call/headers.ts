/* Which headers of a request to the endpoint reach the route of a tool. */

/** With these, a host that trusts its proxy, or reads them itself, sees the same client in the inner request. */
export const IDENTITY: ReadonlySet<string> = new Set([
  'forwarded',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip'
])
/** Names of the headers that every inner request takes from the outer one. @param own - `forwardHeaders` */
export function forwardedNames (own: readonly string[]): ReadonlySet<string> {
  return new Set([...IDENTITY, ...own])
}

/** Headers of one hop or one message, cookies, and the version of a route, which would lead to another route. */
export const NEVER_FORWARDED =
  /^(accept-encoding|accept-version|connection|content-.*|cookie|date|expect|host|if-.*|keep-alive|mcp-.*|proxy-.*|range|te|trailer|transfer-encoding|upgrade|:.*)$/
