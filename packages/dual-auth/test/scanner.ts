import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A scanner on loopback that publishes keys as GitHub does, and counts the readings. */
export interface Scanner {
  readonly keysUrl: string
  reads: number
  /** What it publishes. */
  document: unknown
  /** Answers in place of the document, when set. */
  fault: RequestListener | null
  /** The headers of a report. */
  headers(body: string, keyId?: string): Record<string, string>
}

export const scannerKey = (id: string) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    privateKey,
    published: {
      key_identifier: id,
      key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      is_current: true
    }
  }
}

export async function startScanner (t: Test): Promise<Scanner> {
  const { privateKey, published } = scannerKey('key-1')
  const server = createServer((request, response) => {
    scanner.reads++
    if (scanner.fault !== null) scanner.fault(request, response)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(scanner.document))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const scanner: Scanner = {
    keysUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    reads: 0,
    document: { public_keys: [published] },
    fault: null,
    headers: (body, keyId = 'key-1') => ({
      'content-type': 'application/json',
      'github-public-key-identifier': keyId,
      'github-public-key-signature': sign('sha256', Buffer.from(body), privateKey).toString('base64')
    })
  }
  return scanner
}
