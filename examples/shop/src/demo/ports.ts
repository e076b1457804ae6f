import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { SHOP_NO_PORT } from '../errors.ts'

/** How many ports to try, starting with the requested one. */
const TRIES = 20

/**
 * Systems give higher ports to outgoing connections: one of those could be taken again before a server listens on it.
 */
const [LOWEST, HIGHEST] = [10_000, 32_000]

/** Browsers and `fetch` connect to none of these, whatever listens there: fetch.spec.whatwg.org/#port-blocking */
const BLOCKED = new Set(
  '1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'.split(' ').map(
    Number
  )
)

/**
 * @param wanted - the first port to try; 0 stands for any
 * @returns the first port from there on that is free on every loopback address, and that browsers connect to
 * @throws {@link SHOP_NO_PORT}
 */
export async function freePort (wanted: number): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = wanted === 0 ? randomInt(LOWEST, HIGHEST) : wanted + tries
    if (!BLOCKED.has(port) && await isFree(port, '127.0.0.1') && await isFree(port, '::1')) return port
  }
  throw new SHOP_NO_PORT(wanted, wanted + TRIES - 1)
}

async function isFree (port: number, host: string): Promise<boolean> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    // Without IPv6 the port is not in use there.
    return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
  server.close()
  await once(server, 'close')
  return true
}
