import proxyAddr from '@fastify/proxy-addr'

/**
 * Fastify's `trustProxy` from the setting: how many proxies stand in front, or who they are.
 *
 * @param text - a number, or addresses and networks separated by commas; empty, nobody is believed
 * @throws TypeError for what is neither, a host name for one: names are not looked up
 */
export function trustedProxies (text: string): false | ((address: string, hop: number) => boolean) {
  if (text === '') return false
  if (/^\d+$/.test(text)) return (_address, hop) => hop < Number(text)
  return proxyAddr.compile(text.split(',').map((address) => address.trim()))
}
