import ipaddr from 'ipaddr.js'
import { lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

/** RFC 4291 §2.4 and IANA's registry: no host on the internet has an address outside of it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an IP address belongs to a host on the internet: not loopback, private, link-local (metadata services) or
 * reserved.
 */
export function isPublic (address: string): boolean {
  const parsed = ipaddr.process(address)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(globalUnicast))
}

function isAllowed (address: string, loopback: boolean): boolean {
  return isPublic(address) || (loopback && ipaddr.process(address).range() === 'loopback')
}

/**
 * Whether a URL itself names a host that is not on the internet: `localhost` (RFC 6761 §6.3), or such an IP address.
 *
 * @param loopback - whether this machine counts as public
 */
export function namesPrivateHost ({ hostname }: URL, loopback = false): boolean {
  const address = literalIn(hostname)
  return address === undefined ? !loopback && /(?:^|\.)localhost\.?$/.test(hostname) : !isAllowed(address, loopback)
}

/**
 * Resolves a name for a connection, so that the checked address is the one connected to. Fails unless all addresses are
 * public. An IP address in a URL is never looked up: check it before.
 *
 * @param refuse - makes the error
 */
export function publicLookup (
  refuse: (hostname: string, address: string) => Error,
  { loopback = false, lookup = resolve }: { readonly loopback?: boolean, readonly lookup?: LookupFunction } = {}
): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = error ? [] : [found].flat().map((entry) => typeof entry === 'string' ? entry : entry.address)
      const hidden = addresses.find((address) => !isAllowed(address, loopback))
      done(hidden === undefined ? error : refuse(hostname, hidden) as NodeJS.ErrnoException, found, family)
    })
  }
}

/** The IP address in a URL's host. */
export function literalIn (hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? undefined : host
}
