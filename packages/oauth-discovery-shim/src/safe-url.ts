const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * `https`, or `http` on loopback: the URLs that clients may be sent to.
 *
 * @param http - whether that is accepted anywhere
 */
export function isSafeUrl (value: unknown, http = false): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  return protocol === 'https:' || (protocol === 'http:' && (http || LOOPBACK.has(hostname)))
}
