import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'

/** Whether Fastify trusts a proxy, by its address and its distance from the server. */
export type TrustProxy = (address: string, hop: number) => boolean

/**
 * Fastify's `trustProxy` from the setting: how many proxies are in front, or which.
 *
 * @param text - a number, or addresses and networks separated by commas; empty trusts none
 * @throws TypeError for anything else, such as a host name: names are not resolved
 */
export function trustedProxies (text: string): false | TrustProxy {
  if (text === '') return false
  if (/^\d+$/.test(text)) return (_address, hop) => hop < Number(text)
  const isTrusted = proxyAddr.compile(text.split(',').map((address) => address.trim()))
  return (address, hop) => isTrusted(bareAddress(address) ?? '', hop)
}

/** @returns the address in `192.0.2.1:4711`, `[2001:db8::1]:4711` or `fe80::1%eth0`, or undefined if there is none */
export function bareAddress (text: string): string | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(text) ?? []
  const [address = ''] = (inBrackets ?? beforePort ?? text).split('%', 1)
  return isIP(address) === 0 ? undefined : address
}
