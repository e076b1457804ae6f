import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * The IP address of whoever calls: the furthest one that the trusted proxies name. What is no address is skipped, so
 * that callers who can write something else count as the proxy that passed it on.
 */
export function callerAddress ({ ip, ips = [ip] }: Pick<FastifyRequest, 'ip' | 'ips'>): string {
  // Not there once the client has gone.
  return ips.map((text: string | undefined) => bareAddress(text ?? '')).findLast((address) => address !== undefined) ?? 'unknown'
}

/** @returns the address in `192.0.2.1:4711`, `[2001:db8::1]:4711` or `fe80::1%eth0`, or undefined if there is none */
export function bareAddress (text: string): string | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(text) ?? []
  const [address = ''] = (inBrackets ?? beforePort ?? text).split('%', 1)
  return isIP(address) === 0 ? undefined : address
}
