import dns from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'

/** In milliseconds, and doubled the second time: a name whose server is silent is given up before the connection is. */
const PATIENCE = { timeout: 400, tries: 2 }

/**
 * Asks DNS for the addresses of a host that a stranger named. The system's way holds one of a few threads until a name
 * server answers, and strangers have name servers of their own, which need not: this server would find neither its database
 * nor its identity provider meanwhile.
 */
export const dnsLookup: LookupFunction = (hostname, { all }, done) => {
  const resolver = new Resolver(PATIENCE)
  // Those that the host may have set.
  resolver.setServers(dns.getServers())
  Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]).then(([four, six]) => {
    const found = [
      ...four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : [],
      ...six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []
    ]
    const [first] = found
    if (first === undefined) done((four as PromiseRejectedResult).reason as Error, [])
    else if (all === true) done(null, found)
    else done(null, first.address, first.family)
  })
}
