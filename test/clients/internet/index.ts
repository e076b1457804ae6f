import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned } from '../../../packages/oauth-discovery-shim/test/broker/certificate.ts'
import { documentAt, hosts } from './documents.ts'

/** What of the internet a server needs: the sites of clients' makers, which serve their metadata documents. */
export interface Internet {
  /** For the process of a server: it finds the sites here, and trusts them. */
  readonly environment: Readonly<Record<string, string>>
  /** The URLs that servers have read. */
  readonly read: ReadonlySet<string>
  close(): void
}

/** Starts the sites on loopback, so that nothing depends on the internet. */
export async function openInternet (): Promise<Internet> {
  const { key, cert } = selfSigned(hosts)
  const folder = mkdtempSync(join(tmpdir(), 'clients-internet-'))
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, cert)
  const read = new Set<string>()
  const server = createServer({ key, cert }, ({ headers: { host = '' }, url = '' }, response) => {
    const address = `https://${host.replace(/:\d+$/, '')}${url}`
    const document = documentAt(address)
    if (document) read.add(address)
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    read,
    environment: {
      NODE_EXTRA_CA_CERTS: ca,
      NODE_OPTIONS: `--import ${new URL('route.js', import.meta.url).href}`,
      LAB_INTERNET: JSON.stringify({ port, hosts })
    },
    close () {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    }
  }
}
