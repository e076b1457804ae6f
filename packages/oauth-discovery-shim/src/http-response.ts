import type { ClientRequest, IncomingMessage } from 'node:http'

/**
 * Sends a request and waits for the head of its response. It always ends: a connection may also close without a
 * response and without an error, which is what Node does after `101 Switching Protocols` unless somebody listens for
 * it.
 *
 * @param signal - that of the request
 */
export async function responseTo (
  request: ClientRequest,
  body: string | undefined,
  signal: AbortSignal
): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.once('upgrade', (response, socket) => {
      socket.destroy()
      // Nothing else ends its body, which is empty.
      response.push(null)
      resolve(response)
    })
    // An error after the response has started also fails its body.
    request.on('error', reject)
    request.once('close', () => {
      reject(new Error('the connection was closed without a response'))
    })
    signal.addEventListener('abort', () => {
      reject(new Error('the time is over', { cause: signal.reason }))
    }, { once: true })
    request.end(body)
  })
}

/**
 * Reads a body to its end.
 *
 * @param largest - in bytes
 * @throws what `tooLarge` makes, for a longer one
 */
export async function textUpTo (
  body: AsyncIterable<Uint8Array> | null,
  largest: number,
  tooLarge: () => Error
): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > largest) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
