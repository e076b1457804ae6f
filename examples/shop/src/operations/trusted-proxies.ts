/**
 * Fastify's `trustProxy` from the setting: how many proxies stand in front, or who they are.
 *
 * @param text - a number, or addresses and networks separated by commas; empty, nobody is believed
 */
export function trustedProxies (text: string): false | string[] | ((address: string, hop: number) => boolean) {
  if (text === '') return false
  const count = Number(text)
  return Number.isInteger(count) ? (_address, hop) => hop < count : text.split(',').map((address) => address.trim())
}
