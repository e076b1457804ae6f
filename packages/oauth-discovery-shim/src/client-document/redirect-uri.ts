/**
 * Where a code is sent: a program on the person's machine (`loopback`), a site (`https`), or the app that opens links
 * of a scheme (`app`).
 */
export type RedirectKind = 'loopback' | 'https' | 'app'

/** In characters: it travels in URLs beside the rest of the request. */
const LONGEST = 500

const LOOPBACK = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?=[/?]|$)/

/**
 * What kind of callback URL this is; `undefined` if no client may have it. Only URLs that a parser leaves as they are
 * pass, so that what was compared and shown is what a browser opens.
 *
 * @param schemes - of apps, without the colon. Those with a dot, which belong to the owner of a domain, always pass
 * @see [RFC 8252 §7](https://www.rfc-editor.org/rfc/rfc8252#section-7)
 */
export function redirectKind (uri: unknown, schemes: readonly string[]): RedirectKind | undefined {
  if (
    typeof uri !== 'string' || uri.length > LONGEST || !/^[\x21-\x7e]+$/.test(uri) || /["#<>\\^`{|}]/.test(uri) ||
    !URL.canParse(uri)
  ) return undefined
  const { href, protocol, username, password } = new URL(uri)
  if (username !== '' || password !== '') return undefined
  const local = portless(uri)
  if (local !== undefined) {
    const parsed = portless(href)
    return parsed === local || parsed === `${local}/` ? 'loopback' : undefined
  }
  const scheme = protocol.slice(0, -1)
  const written = scheme === 'https' ? plainHttps(uri) : uri
  if (href !== written && href !== `${written}/`) return undefined
  if (scheme === 'https') return 'https'
  return schemes.includes(scheme) || scheme.includes('.') ? 'app' : undefined
}

/** `https://A.example.com:443/cb` → `https://a.example.com/cb`: what a parser changes that leads nowhere else. */
function plainHttps (uri: string): string {
  return uri.replace(/^https:\/\/[^/?]*/i, (start) => start.toLowerCase().replace(/:443$/, ''))
}

/**
 * Whether a callback URL is one of the client's: the same string, or on loopback the same apart from the port.
 *
 * @see [RFC 9700 §4.1.3](https://www.rfc-editor.org/rfc/rfc9700#section-4.1.3),
 *   [RFC 8252 §7.3](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)
 */
export function isRegistered (uri: string, registered: readonly string[]): boolean {
  const anyPort = portless(uri)
  return registered.some((known) => known === uri || (anyPort !== undefined && portless(known) === anyPort))
}

/** `http://127.0.0.1:33418/callback` → `http://127.0.0.1/callback`; `undefined` if it is not on loopback. */
export function portless (uri: string): string | undefined {
  const [beginning, origin] = LOOPBACK.exec(uri) ?? []
  return beginning === undefined || origin === undefined ? undefined : origin + uri.slice(beginning.length)
}
