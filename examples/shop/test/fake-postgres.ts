import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { promisify } from 'node:util'
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

/**
 * A PostgreSQL server that asks for a password, and never closes a connection itself.
 *
 * @returns its URL, without a password, and how many connections are open
 */
export async function startAskingPostgres (t: Scope): Promise<{ url: string, connections: () => Promise<number> }> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(authentication(10, 'SCRAM-SHA-256\0\0'))
      socket.once('data', (data) => {
        const [, nonce] = /r=(.*)$/.exec(String(data)) ?? []
        socket.write(authentication(11, `r=${nonce}x,s=c2FsdA==,i=4096`))
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
  })
  return {
    url: `postgres://shop@127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    connections: async () => await promisify(server.getConnections.bind(server))()
  }
}

function authentication (code: number, text: string): Buffer {
  const head = Buffer.alloc(9)
  head.write('R')
  head.writeInt32BE(8 + text.length, 1)
  head.writeInt32BE(code, 5)
  return Buffer.concat([head, Buffer.from(text)])
}
