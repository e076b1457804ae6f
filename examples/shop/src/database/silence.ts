import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DatabaseLog } from './index.ts'

/** A connection of node-postgres, as far as its silence matters. */
export interface Connection {
  readonly connection: { readonly stream: Socket }
  /** False while a statement waits for its answer. */
  readonly readyForQuery: boolean
  getTransactionStatus(): string | null
  once(event: 'end', listener: () => void): unknown
  /** Says whether a statement is still at work, and may take longer. Default: none may. */
  isAtWork?: (() => Promise<boolean>) | undefined
}

/**
 * Destroys connections whose server is gone without a word, as after a fail-over: they would stay in the pool, and each
 * statement on one of them would wait for ever. The driver's own `query_timeout` leaves the connection in the pool.
 *
 * A socket has its own clock, so that a statement costs nothing more. Connections that are idle when another one is
 * found silent are of the same time, and are destroyed with it.
 *
 * @param limit - how long a statement may be without an answer, in milliseconds: longer than the server lets it run
 * @returns for each new connection
 */
export function silenceLimit (limit: number, log: DatabaseLog): (connection: Connection) => void {
  const open = new Set<Connection>()

  return (connection) => {
    open.add(connection)
    connection.once('end', () => {
      open.delete(connection)
    })
    const { stream } = connection.connection
    const judge = async (): Promise<void> => {
      // A statement may begin while this waits.
      if (connection.readyForQuery) return
      const { bytesRead } = stream
      // A busy process may have the answer, and not have read it.
      await nextTurn()
      if (connection.readyForQuery) return
      const isAtWork = await connection.isAtWork?.().catch(() => false) ?? false
      if (isAtWork || stream.bytesRead > bytesRead) stream.setTimeout(limit)
      else destroy()
    }
    const destroy = (): void => {
      const idle = [...open].filter((other) =>
        other !== connection && other.readyForQuery && other.getTransactionStatus() === 'I'
      )
      log.warn(
        `A statement had no answer from the database for ${limit / 1000} s: its connection is closed, with ` +
          `${idle.length} idle ones`
      )
      stream.destroy(Object.assign(new Error('The connection to the database is silent'), { code: 'ETIMEDOUT' }))
      for (const other of idle) other.connection.stream.destroy()
    }
    stream.setTimeout(limit)
    stream.on('timeout', judge)
  }
}
