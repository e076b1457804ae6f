/** What an event stream turns out to be once its first event is there. */
export type Streamed =
  /** Its first event is the answer, after which nothing comes: there is no need of a stream. */
  | { readonly answer: string }
  /** Other messages come before the answer, or it takes so long that the stream is kept alive. */
  | { readonly stream: ReadableStream<Uint8Array> }
  /** It ended before an answer. */
  | { readonly nothing: true }

/** Reads the first event of a stream of JSON-RPC messages, of which the SDK writes each in one piece. */
export async function firstEvent (body: ReadableStream<Uint8Array>): Promise<Streamed> {
  const reader = body.getReader()
  const { value } = await reader.read()
  if (value === undefined) return { nothing: true }
  const answer = answerOf(Buffer.from(value).toString())
  if (answer === undefined) return { stream: continued(value, reader) }
  await reader.cancel()
  return { answer }
}

/** The JSON of an event that is an answer to a request. */
function answerOf (event: string): string | undefined {
  const data = /^(?:event: message\n)?data: (.*)\n\n$/.exec(event)?.[1]
  if (data === undefined) return undefined
  const message = JSON.parse(data) as object
  return 'result' in message || 'error' in message ? data : undefined
}

function continued (first: Uint8Array, reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start (controller) {
      controller.enqueue(first)
    },
    async pull (controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason)
  })
}
