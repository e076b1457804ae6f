import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'

/** Calls a function of the host, and logs what it throws: the SDK would send its message to the client. */
export async function fromHost<T> (outer: FastifyRequest, read: (request: FastifyRequest) => T | Promise<T>): Promise<T> {
  try {
    return await read(outer)
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    outer.log.error({ err: error }, 'a function of the options threw')
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error')
  }
}
