import { isIPv4, isIPv6 } from 'node:net'

/**
 * The network of an IP address: its first 24 bits (IPv4) or 48 bits (IPv6), as `203.0.113.0/24` or `2001:db8:7::/48`.
 * Enough to notice a key that is used from somewhere else, and no record of where a person is. Null for anything that
 * is no address; a port behind it is ignored, because some proxies add one.
 */
export function networkFromAddress (address: string | undefined): string | null {
  if (address === undefined) return null
  // IPv4 in the form of IPv6 (RFC 4291 §2.5.5.2), as a socket that listens on both reports it.
  const [, four] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(address) ?? []
  if (four !== undefined) return isIPv4(four) ? `${four.slice(0, four.lastIndexOf('.'))}.0/24` : null
  const [, six = address] = /^\[(.*)\](?::\d+)?$/.exec(address) ?? []
  const zone = six.indexOf('%')
  const bare = zone === -1 ? six : six.slice(0, zone)
  return isIPv6(bare) ? `${firstGroups(bare)}::/48` : null
}

/** The first three groups, in the spelling of RFC 5952 §4, without zeros at the end. */
function firstGroups (address: string): string {
  const [head = '', tail] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  // The last two groups may be written as an IPv4 address.
  const written = left.length + right.length + (address.includes('.') ? 1 : 0)
  const groups = [...left, ...Array<string>(tail === undefined ? 0 : 8 - written).fill('0'), ...right]
    .slice(0, 3).map((group) => parseInt(group, 16).toString(16))
  while (groups.at(-1) === '0') groups.pop()
  return groups.join(':')
}
