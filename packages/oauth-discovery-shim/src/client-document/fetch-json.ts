import dns, { lookup as resolve } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { responseTo, textUpTo } from '../http-response.ts'
import { namesPrivateHost, publicLookup } from '../public-address.ts'
import { DocumentFault, DocumentOutage } from './document.ts'

export interface FetchOptions {
  /** For the whole response, in milliseconds. */
  readonly timeout: number
  /** In bytes. */
  readonly largest: number
  /** Hosts whose addresses may be private. `loopback`: also this machine, because this server is there too. */
  readonly privateHosts: readonly string[]
  readonly loopback: boolean
  /** Certificate authorities in PEM, instead of the well-known ones. */
  readonly ca?: string | readonly string[] | undefined
  /** Ends it before its time, in favour of others. */
  readonly hurry?: AbortSignal
  /**
   * Resolves names of hosts whose addresses must be public. Default: DNS alone, or the system where `loopback` is set.
   */
  readonly lookup?: LookupFunction
}

/** A JSON document, and for how long it says that it may be kept, in seconds. */
export interface Fetched {
  readonly text: string
  readonly maxAge: number | undefined
}

/**
 * Reads JSON from a host that a stranger named: over https, without redirects, from a public address, and little of it.
 * The address is checked where the connection resolves it, so that a name cannot lead elsewhere a moment later.
 *
 * @throws {@link DocumentFault}, {@link DocumentOutage}
 * @see
 *   [draft-ietf-oauth-client-id-metadata-document §6.5](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-6.5)
 */
export async function fetchJson (
  url: URL,
  { timeout, largest, privateHosts, loopback, ca, hurry, lookup = loopback ? resolve : dnsLookup }: FetchOptions
): Promise<Fetched> {
  const mayBePrivate = privateHosts.includes(url.hostname)
  if (!mayBePrivate && namesPrivateHost(url, loopback)) throw new DocumentFault(PRIVATE)
  const late = AbortSignal.timeout(timeout)
  const signal = hurry === undefined ? late : AbortSignal.any([late, hurry])
  try {
    const request = https.request(url, {
      signal,
      agent: false,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'oauth-discovery-shim' },
      lookup: mayBePrivate
        ? resolve
        : publicLookup((hostname, address) =>
          new DocumentFault(UNREACHABLE, {
            cause: new Error(`${hostname} resolves to ${address}, in a private network`)
          }), { loopback, lookup }),
      ...ca !== undefined && { ca: [ca].flat() }
    })
    request.once('socket', endUnlessConnected)
    const response = await responseTo(request, undefined, signal)
    try {
      return await read(response, largest)
    } finally {
      response.destroy()
    }
  } catch (error) {
    if (error instanceof DocumentFault) throw error
    const cut = hurry?.aborted === true ? HURRIED : UNREACHABLE
    const why = late.aborted ? `its server took longer than ${timeout / 1000} seconds` : cut
    throw new DocumentOutage(why, { cause: error })
  }
}

/** In milliseconds, with the resolution of the name: enough for one packet that is lost and sent again. */
const CONNECTS_WITHIN = 1500

/** A host that does not answer at all is no reason to wait as long as for one that is slow. */
function endUnlessConnected (socket: Socket): void {
  const timer = setTimeout(
    () => socket.destroy(new Error(`no connection within ${CONNECTS_WITHIN} ms`)),
    CONNECTS_WITHIN
  )
  for (const event of ['connect', 'close']) {
    socket.once(event, () => {
      clearTimeout(timer)
    })
  }
}

const PRIVATE = 'its address leads into a private network'

/** The same for a name that leads into a private network, which nobody is to learn by asking. The log has the cause. */
const UNREACHABLE = 'its server cannot be reached over https'

const HURRIED = 'its server is slow, and many other apps are being looked up. Try again in a moment'

async function read (response: IncomingMessage, largest: number): Promise<Fetched> {
  const { headers } = response
  const statusCode = response.statusCode!
  if (statusCode >= 300 && statusCode < 400) throw new DocumentFault('its server redirects to another address')
  if (statusCode !== 200) {
    throw new (statusCode >= 500 || statusCode === 429 ? DocumentOutage : DocumentFault)(
      `its server returns the status ${statusCode}`
    )
  }
  // Some servers compress what nobody wanted compressed; a small body may expand to a huge one.
  if (!['identity', undefined].includes(headers['content-encoding'])) {
    throw new DocumentFault('its server sends it compressed')
  }
  const type = headers['content-type']
  if (type === undefined || !/^application\/(?:[\w.+-]+\+)?json(?:\s*;|\s*$)/i.test(type)) {
    throw new DocumentFault('its server does not send it as application/json')
  }
  const text = await textUpTo(
    response as AsyncIterable<Uint8Array>,
    largest,
    () => new DocumentFault(`it is larger than ${largest} bytes`)
  )
  return { text, maxAge: maxAgeFrom(headers['cache-control']) }
}

/** RFC 9111 §5.2.2. */
function maxAgeFrom (header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/i.test(header)) return 0
  const [, seconds] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(header) ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

/** In milliseconds, and doubled the second time: a name whose server is silent is given up before the connection is. */
const PATIENCE = { timeout: 400, tries: 2 }

/**
 * Asks DNS for the addresses of a host that a stranger named. The system's way holds one of a few threads until a name
 * server answers, and strangers have name servers of their own, which need not: this server would find neither its
 * database nor its identity provider meanwhile.
 */
const dnsLookup: LookupFunction = (hostname, { all }, done) => {
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
