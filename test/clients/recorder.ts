import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What a client sent, and what the server answered to it. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Undefined when there was none. */
  readonly body: any
  readonly status: number
  /** As it was sent, events included. */
  readonly answer: string
}

/** A proxy between one client and one server, which keeps what passes. */
export interface Recorder {
  /** The server's address, through the recorder. */
  readonly url: string
  readonly exchanges: Exchange[]
  /** Sends what follows to another server. */
  redirect(origin: string): void
  /** Changes the parameters of answers to questions on their way. */
  tamper(change: (params: any) => void): void
  /** Closes all connections. */
  disconnect(): void
  close(): void
}

/**
 * Besides `/mcp` the server is told about by its own address: the answers name the recorder's instead, or clients that
 * sign in would stop at a mismatch that no user meets.
 *
 * @param target - origin of the server
 */
export async function record (target: string): Promise<Recorder> {
  const exchanges: Exchange[] = []
  let origin = target
  let change: (params: any) => void = () => {}
  const server = createServer((incoming, outgoing) => {
    ;(async () => {
      const sent = changed(await buffer(incoming), (params) => change(params))
      const { method = 'GET', url = '/', headers } = incoming
      const inner = httpRequest(new URL(url, origin), {
        method,
        headers: { ...headers, ...(sent.length > 0 && { 'content-length': sent.length }) },
        agent: false
      })
      outgoing.on('close', () => inner.destroy())
      inner.end(sent)
      const [answer] = await once(inner, 'response')
      const own = `http://${headers.host}`
      const isTool = url.startsWith('/mcp')
      const { 'www-authenticate': challenge, 'content-length': _, ...kept } = answer.headers
      outgoing.writeHead(answer.statusCode, {
        ...kept,
        ...(challenge && { 'www-authenticate': challenge.replaceAll(target, own) })
      })
      let text = ''
      for await (const chunk of answer) {
        text += String(chunk)
        if (isTool) outgoing.write(chunk)
      }
      if (!isTool) outgoing.write(text.replaceAll(target, own))
      exchanges.push({
        method,
        path: url,
        headers,
        body: sent.length > 0 ? JSON.parse(String(sent)) : undefined,
        status: answer.statusCode,
        answer: text
      })
      outgoing.end()
    })().catch(() => outgoing.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    redirect: (to) => {
      origin = to
    },
    tamper: (by) => {
      change = by
    },
    disconnect: () => server.closeAllConnections(),
    close () {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** A message that answers a question, with its parameters changed; every other as it is. */
function changed (sent: Buffer, change: (params: any) => void): Buffer {
  if (!sent.includes('"inputResponses"')) return sent
  const message = JSON.parse(String(sent))
  change(message.params)
  return Buffer.from(JSON.stringify(message))
}
