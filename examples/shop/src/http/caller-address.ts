import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bareAddress, type TrustProxy } from '../settings/trusted-proxies.ts'
import { isInner } from './inner-request.ts'

/**
 * The caller's IP address: the furthest one that trusted proxies report. Anything that is no address is skipped, so a
 * caller who sends something else counts as the proxy that passed it on.
 */
export function callerAddress ({ ip, ips = [ip] }: Pick<FastifyRequest, 'ip' | 'ips'>): string {
  // Missing once the client has disconnected.
  return ips.map((text: string | undefined) => bareAddress(text ?? '')).findLast((address) => address !== undefined) ??
    'unknown'
}

/** Warns once about a proxy that TRUST_PROXY does not include: everyone behind it counts as one caller. */
export function warnOfUntrustedProxy (app: FastifyInstance, trust: false | TrustProxy): void {
  let warned = false
  app.addHook('onRequest', async (request) => {
    if (warned || request.headers['x-forwarded-for'] === undefined || isInner(request)) return
    const peer = request.socket.remoteAddress ?? ''
    if (trust !== false && trust(peer, 0)) return
    warned = true
    app.log.warn(
      { peer },
      'X-Forwarded-For is ignored because TRUST_PROXY does not include this peer. If it is a proxy, set ' +
        'TRUST_PROXY; until then all callers behind it share one address and its rate limits'
    )
  })
}
