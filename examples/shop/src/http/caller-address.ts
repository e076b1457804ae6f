import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bareAddress, type TrustProxy } from '../settings/trusted-proxies.ts'
import { isInner } from './inner-request.ts'

/**
 * The IP address of whoever calls: the furthest one that the trusted proxies name. What is no address is skipped, so
 * that callers who can write something else count as the proxy that passed it on.
 */
export function callerAddress ({ ip, ips = [ip] }: Pick<FastifyRequest, 'ip' | 'ips'>): string {
  // Not there once the client has gone.
  return ips.map((text: string | undefined) => bareAddress(text ?? '')).findLast((address) => address !== undefined) ?? 'unknown'
}

/** Warns once of a proxy that the settings do not name: everybody behind it would count as one caller. */
export function warnOfUntrustedProxy (app: FastifyInstance, trust: false | TrustProxy): void {
  let warned = false
  app.addHook('onRequest', async (request) => {
    if (warned || request.headers['x-forwarded-for'] === undefined || isInner(request)) return
    const peer = request.socket.remoteAddress ?? ''
    if (trust !== false && trust(peer, 0)) return
    warned = true
    app.log.warn({ peer }, 'X-Forwarded-For is ignored because TRUST_PROXY does not include this peer. If it is a proxy, set TRUST_PROXY: until then all callers behind it share one address and its rate limits')
  })
}
