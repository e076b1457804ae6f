import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance } from 'fastify'
import { bareAddress } from './caller-address.ts'
import { isInner } from './inner-request.ts'

/** Whether Fastify believes a proxy: its address, and how many stand between it and the server. */
export type TrustProxy = (address: string, hop: number) => boolean

/**
 * Fastify's `trustProxy` from the setting: how many proxies stand in front, or who they are.
 *
 * @param text - a number, or addresses and networks separated by commas; empty, nobody is believed
 * @throws TypeError for what is neither, a host name for one: names are not looked up
 */
export function trustedProxies (text: string): false | TrustProxy {
  if (text === '') return false
  if (/^\d+$/.test(text)) return (_address, hop) => hop < Number(text)
  const isTrusted = proxyAddr.compile(text.split(',').map((address) => address.trim()))
  return (address, hop) => isTrusted(bareAddress(address) ?? '', hop)
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
