import { EventEmitter } from 'node:events'
import { IncomingMessage, ServerResponse, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import { PARENT_REQUEST } from '../parent.ts'
import type { InnerRequest, InnerResponse } from '../types.ts'

/** How many bytes a writer may write before it must pause. */
const HIGH_WATER = 16_384

/** What hooks read from a socket about its peer, taken from the client's. Nothing is sent through it. */
export class LightSocket extends EventEmitter {
  readonly writableLength = 0
  readonly writable = true
  readonly remoteAddress: string | undefined
  readonly #client: TLSSocket
  destroyed = false

  constructor (client: Socket) {
    super()
    this.#client = client as TLSSocket
    // Cached: it is undefined once the client has disconnected, and late hooks still need it.
    this.remoteAddress = client.remoteAddress
  }

  get remotePort (): number | undefined {
    return this.#client.remotePort
  }
  get remoteFamily (): string | undefined {
    return this.#client.remoteFamily
  }
  get localAddress (): string | undefined {
    return this.#client.localAddress
  }
  get localPort (): number | undefined {
    return this.#client.localPort
  }
  get encrypted (): boolean {
    return this.#client.encrypted
  }
  get authorized (): boolean {
    return this.#client.authorized
  }
  get getPeerCertificate (): unknown {
    return this.#client.getPeerCertificate?.bind(this.#client)
  }

  destroy (): this {
    this.destroyed = true
    return this
  }

  setTimeout (): this {
    return this
  }
  setKeepAlive (): this {
    return this
  }
  setNoDelay (): this {
    return this
  }
  cork (): void {}
  uncork (): void {}
  ref (): this {
    return this
  }
  unref (): this {
    return this
  }
}

/*
 * Express, mounted in a hook of the host, replaces the prototypes of a request and its response. So the methods that
 * make them light are their own properties, each assigned by name: a loop over the names takes five times as long.
 */

/** A request without a connection. */
export class LightRequest extends IncomingMessage {
  override readonly [PARENT_REQUEST]: FastifyRequest
  #body: string | undefined
  #answered = false

  constructor ({ method, url, headers, body }: InnerRequest, outer: FastifyRequest, socket: LightSocket) {
    super(socket as unknown as Socket)
    this[PARENT_REQUEST] = outer
    this.method = method
    this.url = url
    this.httpVersionMajor = 1
    this.httpVersionMinor = 1
    this.httpVersion = '1.1'
    this.complete = true
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body))
    this.headers = headers
    for (const name in headers) this.rawHeaders.push(name, headers[name] as string)
    this.#body = body
    const own = LightRequest.prototype as this
    this._read = own._read
    this._destroy = own._destroy
    this.release = own.release
  }

  override _read (): void {
    if (this.#body !== undefined) this.push(Buffer.from(this.#body))
    this.#body = undefined
    this.push(null)
  }

  /**
   * Ends and closes the request once the response is written, as a server does: a body that nobody has read is
   * discarded.
   */
  release (): void {
    this.#answered = true
    // Ending a stream costs time, so do it only if somebody listens.
    if (this.readableFlowing === null && (this.listenerCount('close') > 0 || this.listenerCount('end') > 0)) {
      this.resume()
    }
  }

  /** As in Node.js, a request that was read or answered was not aborted, and an error without a listener is dropped. */
  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded && !this.#answered) {
      this.aborted = true
      this.emit('aborted')
    }
    if (error === null) done()
    else process.nextTick(() => done(this.listenerCount('error') > 0 ? error : null))
  }
}

/** A response that is kept in memory instead of sent. */
export class LightResponse extends ServerResponse<LightRequest> {
  /** `req` may become another object that stands for it. */
  readonly #request: LightRequest
  readonly #done: (response: InnerResponse | undefined) => void
  readonly #maxBytes: number
  readonly #onChunk: ((chunk: Buffer, response: InnerResponse) => void) | undefined
  readonly #pieces: Array<string | Buffer> = []
  #size = 0
  #drained = 0
  #sent: Record<string, OutgoingHttpHeader> = {}
  #settled = false
  /**
   * As it was sent with the headers; 0 before that. Decides in place of `headersSent`, which @fastify/express
   * redefines.
   */
  #status = 0

  /**
   * @param done - called once, with the response, or with nothing when it was destroyed before its end
   * @param maxBytes - a response larger than this is cut off, and passed to `done` as it is
   * @param onChunk - sees each piece of the body as it is written
   */
  constructor (
    req: LightRequest,
    socket: LightSocket,
    done: (response: InnerResponse | undefined) => void,
    maxBytes: number,
    onChunk?: (chunk: Buffer, response: InnerResponse) => void
  ) {
    super(req)
    Reflect.set(this, 'socket', socket)
    this.#request = req
    this.#done = done
    this.#maxBytes = maxBytes
    this.#onChunk = onChunk
    const own = LightResponse.prototype as this
    this.writeHead = own.writeHead
    this.write = own.write
    this.end = own.end
    this.destroy = own.destroy
    this.flushHeaders = own.flushHeaders
    this.writeContinue = own.writeContinue
    this.writeProcessing = own.writeProcessing
    this.writeEarlyHints = own.writeEarlyHints
  }

  override writeHead (
    statusCode: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]
  ): this {
    this.statusCode = statusCode
    const given = typeof reason === 'object' ? reason : headers
    if (typeof reason === 'string') this.statusMessage = reason
    if (Array.isArray(given)) {
      for (let i = 0; i < given.length; i += 2) this.setHeader(String(given[i]), given[i + 1] as string)
    } else if (given !== undefined) {
      for (const name in given) this.#sent[name.toLowerCase()] = given[name] as OutgoingHttpHeader
    }
    for (const name of this.getHeaderNames()) this.#sent[name] ??= this.getHeader(name) as OutgoingHttpHeader
    // Node's `headersSent` reads it, and so do its methods that refuse to change a header after that.
    this.#status = statusCode
    ;(this as { _header?: string })._header = 'HTTP/1.1'
    return this
  }

  // Node's types declare it as a property, so TypeScript allows no accessor here.
  static {
    // Node.js 24 keeps it in a private property, which only its own end() sets.
    Object.defineProperty(this.prototype, 'writableFinished', {
      get (this: LightResponse) {
        return this.writableEnded
      }
    })
  }

  override write (chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
    const done = typeof encoding === 'function' ? encoding : callback
    this.#begin()
    if (!this.writableEnded && !this.destroyed) this.#keep(chunk, encoding)
    if (typeof done === 'function') process.nextTick(done)
    return !this.destroyed && !this.#isFull()
  }

  override end (chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    if (this.writableEnded || this.destroyed) return this
    const last = typeof encoding === 'function' ? encoding : callback
    const done = typeof chunk === 'function' ? chunk : last
    this.#begin()
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') this.#keep(chunk, encoding)
    this.finished = true
    this.#settle(this.#response())
    process.nextTick(finish, this, this.#request, done)
    return this
  }

  override destroy (error?: Error): this {
    if (this.destroyed) return this
    this.destroyed = true
    process.nextTick(() => {
      if (error && this.listenerCount('error') > 0) this.emit('error', error)
      this.emit('close')
      this.#request.destroy()
    })
    this.#settle(undefined)
    return this
  }

  override flushHeaders (): void {
    this.#begin()
  }

  override addTrailers (): void {}
  override writeContinue (): void {}
  override writeProcessing (): void {}
  override writeEarlyHints (_hints: unknown, callback?: () => void): void {
    if (callback !== undefined) process.nextTick(callback)
  }

  #begin (): void {
    if (this.#status === 0) this.writeHead(this.statusCode)
  }

  /** Signals backpressure as a socket would: a source that never pauses would block the event loop. */
  #isFull (): boolean {
    if (this.#size - this.#drained < HIGH_WATER) return false
    this.#drained = this.#size
    setImmediate(() => {
      if (!this.destroyed) this.emit('drain')
    })
    return true
  }

  #keep (chunk: unknown, encoding: unknown): void {
    const piece = pieceOf(chunk, encoding)
    this.#pieces.push(piece)
    this.#size += Buffer.byteLength(piece)
    this.#onChunk?.(typeof piece === 'string' ? Buffer.from(piece) : piece, this.#response())
    // One piece is in memory anyway; a stream may go on forever.
    if (this.#size > this.#maxBytes && this.#pieces.length > 1) this.#settle({ ...this.#response(), cut: true })
  }

  #response (): InnerResponse {
    return {
      statusCode: this.#status,
      headers: this.#sent as InnerResponse['headers'],
      body: hasBody(this.#status) ? this.#body() : ''
    }
  }

  /** Nearly every response is one piece, which stays as it is. */
  #body (): string | Buffer {
    return this.#pieces.length > 1
      ? Buffer.concat(this.#pieces.map((piece) => Buffer.from(piece as string)))
      : this.#pieces[0] ?? ''
  }

  #settle (response: InnerResponse | undefined): void {
    if (this.#settled) return
    this.#settled = true
    this.#done(response)
  }
}

function finish (response: LightResponse, request: LightRequest, done: unknown): void {
  // With the prototype of Express.
  if (!response.writableFinished) Object.defineProperty(response, 'writableFinished', { value: true })
  response.emit('finish')
  if (typeof done === 'function') done()
  response.destroyed = true
  response.emit('close')
  request.release()
}

/** Text in an encoding whose letters are not its own becomes bytes. */
function pieceOf (chunk: unknown, encoding: unknown): string | Buffer {
  if (typeof chunk !== 'string') return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as Uint8Array)
  return encoding === 'hex' || encoding === 'base64' || encoding === 'latin1' || encoding === 'binary'
    ? Buffer.from(chunk, encoding)
    : chunk
}

function hasBody (statusCode: number): boolean {
  return statusCode >= 200 && statusCode !== 204 && statusCode !== 304
}
