import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Scope } from '../../../test/scope.ts'

/** The code of a client that asks for TLS before it says anything else. */
const SSL_REQUEST = 80_877_103

/**
 * A PostgreSQL server that rejects all connections.
 *
 * @param code - the SQLSTATE of its error
 * @returns its URL
 */
export async function startRefusingPostgres (t: Scope, code: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (data) => {
      if (data.readInt32BE(4) === SSL_REQUEST) socket.write('N')
      else socket.end(errorResponse(code))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
  })
  return `postgres://shop:canary@127.0.0.1:${(server.address() as AddressInfo).port}/shop`
}

function errorResponse (code: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mrejected with ${code}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
