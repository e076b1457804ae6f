import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

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

/** @returns any port that {@link isFree} */
export async function freePort (): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isFree(port)) return port
  }
}

/** Whether the port is free on every loopback address, and browsers connect to it. */
export async function isFree (port: number): Promise<boolean> {
  return !BLOCKED.has(port) && await canListen(port, '127.0.0.1') && await canListen(port, '::1')
}

async function canListen (port: number, host: string): Promise<boolean> {
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
