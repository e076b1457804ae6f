import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Scope } from '../../../test/scope.ts'

/** A TCP proxy that can lose its connections as a fail-over does: without a word. */
export interface FreezingProxy {
  readonly url: string
  /** Forwards nothing more on the connections that are open, and leaves them open. New ones work. */
  freeze(): void
  /** Forwards nothing on any connection, new ones too, until it is thawed: then all that waited goes on. */
  pause(): void
  thaw(): void
  /** Leads new connections to another server, as the address of a service does that moves. */
  leadTo(url: string): void
  /** Closes each new connection at once, until it is opened. @returns waits until there was one */
  close(): { readonly refused: Promise<unknown>, open(): void }
}

/**
 * @param url - of the server behind it
 * @param host - the address where it listens
 */
export async function startFreezingProxy (t: Scope, url: string, host = '127.0.0.1'): Promise<FreezingProxy> {
  let target = new URL(url)
  const refusals = new EventEmitter()
  let [closed, paused] = [false, false]
  const pairs: Array<readonly [Socket, Socket]> = []
  const server = createServer((client) => {
    if (closed) {
      client.destroy()
      refusals.emit('refused')
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    pairs.push([client, upstream])
    for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
      from.on('data', (data) => {
        to.write(data)
      })
      from.on('error', () => {})
      from.on('close', () => {
        to.destroy()
      })
      if (paused) from.pause()
    }
  })
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of pairs.flat()) socket.destroy()
    server.close()
  })
  const through = new URL(url)
  through.hostname = host
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    freeze: () => {
      for (const socket of pairs.flat()) socket.removeAllListeners('data').resume()
    },
    pause: () => {
      paused = true
      for (const socket of pairs.flat()) socket.pause()
    },
    thaw: () => {
      paused = false
      for (const socket of pairs.flat()) socket.resume()
    },
    leadTo: (other) => {
      target = new URL(other)
    },
    close: () => {
      closed = true
      return {
        refused: once(refusals, 'refused'),
        open: () => {
          closed = false
        }
      }
    }
  }
}
