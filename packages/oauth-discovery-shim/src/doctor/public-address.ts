import ipaddr from 'ipaddr.js'
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE } from '../errors.ts'

/** RFC 4291 §2.4 and IANA's registry: no host on the internet has an address outside of it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether an IP address belongs to a host on the internet: not loopback, private, link-local (metadata services) or reserved. */
export function isPublic (address: string): boolean {
  const parsed = ipaddr.process(address)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(globalUnicast))
}

/** Whether a URL itself names a host that is not on the internet: `localhost` (RFC 6761 §6.3), or such an IP address. */
export function namesPrivateHost ({ hostname }: URL): boolean {
  const address = literalIn(hostname)
  return address === undefined ? /(?:^|\.)localhost\.?$/.test(hostname) : !isPublic(address)
}

/**
 * Checks an IP address in a URL, which is never looked up.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE} unless it is public
 */
export function requirePublicLiteral ({ hostname }: URL): void {
  const address = literalIn(hostname)
  if (address !== undefined && !isPublic(address)) throw new OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE(hostname, address)
}

/** Resolves a name for a connection, so that the checked address is the one connected to. Fails unless all addresses are public. */
export const lookupPublic: LookupFunction = (hostname, options, done) => {
  lookup(hostname, options, (error, found, family) => {
    const addresses = error ? [] : [found].flat().map(entry => typeof entry === 'string' ? entry : entry.address)
    const hidden = addresses.find(address => !isPublic(address))
    done(hidden === undefined ? error : new OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE(hostname, hidden), found, family)
  })
}

function literalIn (hostname: string): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? undefined : host
}
