import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { SHOP_NO_PORT } from '../errors.ts'

/** How many ports to try, starting with the requested one. */
const TRIES = 20

/**
 * @param wanted - the first port to try; 0 lets the system choose
 * @returns the first port from there on that is free on every loopback address
 * @throws {@link SHOP_NO_PORT}
 */
export async function freePort (wanted: number): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = await bind(wanted === 0 ? 0 : wanted + tries, '127.0.0.1')
    if (port !== undefined && await bind(port, '::1') !== undefined) return port
  }
  throw new SHOP_NO_PORT(wanted, wanted + TRIES - 1)
}

/** @returns the port, or undefined if it is in use */
async function bind (port: number, host: string): Promise<number | undefined> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    // Without IPv6 the port is not in use there.
    return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '') ? port : undefined
  }
  const bound = (server.address() as AddressInfo).port
  server.close()
  await once(server, 'close')
  return bound
}
