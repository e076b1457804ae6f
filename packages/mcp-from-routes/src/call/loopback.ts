import { ServerResponse, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import inject from 'light-my-request'
import { MCP_FROM_ROUTES_UNSUPPORTED_VERSION } from '../errors.ts'
import { setTarget, type Target } from './guard.ts'
import { LightRequest, LightResponse, LightSocket } from './light.ts'
import { PARENT_REQUEST } from '../parent.ts'
import type { InnerRequest, InnerResponse, OnChunk } from '../types.ts'
import type { Stop } from './stop.ts'
import { unpacked } from './unpacked.ts'

/** How to send one inner request. */
export interface Sending {
  readonly outer: FastifyRequest
  /** Ends the request: its `request.signal` fires, as if its client had gone. */
  readonly stop: Stop
  /** A streamed response larger than this is cut off. */
  readonly maxBytes: number
  /** The route that the request must reach. Without a target it may run any route. */
  readonly target?: Target
  readonly onChunk?: OnChunk | undefined
}

/**
 * Sends a request to a route of the same application, through all of its hooks, without a socket. What the route
 * compressed unasked is decompressed.
 * @returns undefined if it ended without a response
 */
export type Loopback = (
  app: FastifyInstance,
  request: InnerRequest,
  sending: Sending
) => Promise<InnerResponse | undefined>

/** Passes the router the smallest request and response that a route can work with. */
export const lightLoopback: Loopback = (app, request, { outer, stop, maxBytes, target, onChunk }) =>
  new Promise((resolve) => {
    if (stop.reason !== undefined) return resolve(undefined)
    const socket = new LightSocket(outer.raw.socket)
    const req = new LightRequest(request, outer, socket)
    const res = new LightResponse(
      req,
      socket,
      (response) => {
        resolve(response && unpacked(response, maxBytes))
        if (response?.cut) stop.stop('too large')
      },
      maxBytes,
      onChunk
    )
    stop.onStop(() => {
      // Not left to the response: the host may have changed it.
      resolve(undefined)
      req.destroy()
      res.destroy()
    })
    if (target !== undefined) setTarget(req, target)
    app.routing(req, res)
  })

/**
 * The light response sets properties of Node's `ServerResponse`. Writes one at startup, to check that they still work.
 * @throws {@link MCP_FROM_ROUTES_UNSUPPORTED_VERSION}
 */
export function checkLoopback (): void {
  const outer = { raw: { socket: {} } } as FastifyRequest
  const socket = new LightSocket(outer.raw.socket)
  const req = new LightRequest(
    { method: 'GET', url: '/', params: new Map(), headers: {}, body: undefined },
    outer,
    socket
  )
  let response: InnerResponse | undefined
  const res = new LightResponse(req, socket, (written) => {
    response = written
  }, Infinity)
  res.setHeader('a', 'b').writeHead(201)
  const sent = [res.headersSent, res.writableEnded]
  res.end('c')
  const works = String(sent) === 'true,false' && res.writableFinished && String(res.socket) === String(socket) &&
    response?.statusCode === 201 && response.headers.a === 'b' && response.body === 'c'
  if (!works) {
    throw new MCP_FROM_ROUTES_UNSUPPORTED_VERSION('Node.js', 'a response without a connection cannot be written')
  }
}

const PEER = [
  'authorized',
  'encrypted',
  'getPeerCertificate',
  'localAddress',
  'localPort',
  'remoteAddress',
  'remoteFamily',
  'remotePort'
] as const

/** The same through light-my-request, as `app.inject` does: slower, but closer to a real socket in rare cases. */
export const injectLoopback: Loopback = async (app, request, sending) => {
  const { stop } = sending
  if (stop.reason !== undefined) return undefined
  // Not left to the response: the host may have changed it. One that is cut off is still an answer.
  const stopped = new Promise<undefined>((resolve) => {
    stop.onStop((reason) => {
      if (reason !== 'too large') resolve(undefined)
    })
  })
  return await Promise.race([stopped, injected(app, request, sending)])
}

async function injected (
  app: FastifyInstance,
  { method, url, headers, body }: InnerRequest,
  { outer, stop, maxBytes, target }: Sending
): Promise<InnerResponse | undefined> {
  const dispatch = (req: IncomingMessage, res: ServerResponse): void => {
    Object.defineProperty(req, PARENT_REQUEST, { value: outer })
    const socket = new LightSocket(outer.raw.socket)
    ownMethods(req, Readable.prototype)
    ownMethods(res, ServerResponse.prototype)
    // Over HTTP a request closes after its response, which releases what it holds. This one would stay open.
    res.once('close', () =>
      process.nextTick(() => {
        if (!req.destroyed) req.emit('close')
      }))
    stop.onStop(() => {
      req.destroy()
      res.destroy()
    })
    for (const key of PEER) {
      Object.defineProperty(req.socket, key, { value: socket[key], configurable: true, writable: true })
    }
    if (target !== undefined) setTarget(req, target)
    app.routing(req, res)
  }
  const payload = body === undefined ? {} : { payload: body }
  try {
    const response = await inject(dispatch, {
      method,
      url,
      headers: { ...headers },
      ...payload,
      validate: false,
      payloadAsStream: true
    })
    const answer = {
      statusCode: response.statusCode,
      headers: response.headers as InnerResponse['headers'],
      ...await bodyOf(response.stream(), maxBytes)
    }
    if (answer.cut) stop.stop('too large')
    return unpacked(answer, maxBytes)
  } catch (error) {
    // It rejects when the request is ended early, and when the route destroys the response.
    if (stop.reason !== undefined || Reflect.get(Object(error), 'code') === 'LIGHT_ECONNRESET') return undefined
    throw error
  }
}

/** Keeps the methods that an object has from the prototypes before `base`, whatever prototype the host gives it. */
function ownMethods (object: object, base: object): void {
  for (
    let prototype: unknown = Object.getPrototypeOf(object);
    prototype !== base && prototype !== null;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const method: unknown = Reflect.get(prototype as object, name)
      if (typeof method === 'function' && !Object.hasOwn(object, name)) {
        Object.defineProperty(object, name, { value: method, configurable: true, writable: true })
      }
    }
  }
}

/** One piece is in memory anyway; a stream is cut off, because it may go on forever. */
async function bodyOf (stream: Readable, maxBytes: number): Promise<Pick<InnerResponse, 'body' | 'cut'>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes && chunks.length > 1) return { body: Buffer.concat(chunks), cut: true }
  }
  return { body: Buffer.concat(chunks) }
}
