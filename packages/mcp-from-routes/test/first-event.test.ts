import t from 'tap'
import { firstEvent } from '../src/endpoint/relay.ts'

/** A stream of these pieces, and whether its reader has left it. */
function streamOf (...pieces: string[]): { stream: ReadableStream<Uint8Array>, left: () => boolean } {
  let left = false
  const rest = pieces.map((piece) => new TextEncoder().encode(piece))
  const stream = new ReadableStream<Uint8Array>({
    pull (controller) {
      const piece = rest.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
    cancel () { left = true }
  }, { highWaterMark: 0 })
  return { stream, left: () => left }
}

const event = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`
const PROGRESS = event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })

for (const answer of [{ result: {}, jsonrpc: '2.0', id: 1 }, { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'data: x' } }]) {
  t.test(`a stream that begins with its ${'result' in answer ? 'result' : 'error'} needs to be none, and is left`, async (t) => {
    const { stream, left } = streamOf(event(answer), 'more')
    t.strictSame(await firstEvent(stream), { answer: JSON.stringify(answer) })
    t.equal(left(), true)
  })
}

for (const [title, first] of [['a notification', PROGRESS], ['a sign of life', ': keep-alive\n\n'], ['a request to the client', event({ jsonrpc: '2.0', id: 1, method: 'x' })]] as const) {
  t.test(`a stream that begins with ${title} stays whole`, async (t) => {
    const { stream, left } = streamOf(first, event({ result: {} }))
    const streamed = await firstEvent(stream) as { stream: ReadableStream<Uint8Array> }
    t.equal(await new Response(streamed.stream).text(), `${first}${event({ result: {} })}`)
    t.equal(left(), false)
  })
}

t.test('whoever leaves a stream that stays leaves its source', async (t) => {
  const { stream, left } = streamOf(PROGRESS, PROGRESS)
  const streamed = await firstEvent(stream) as { stream: ReadableStream<Uint8Array> }
  await streamed.stream.cancel()
  t.equal(left(), true)
})

t.test('a stream that ends at once holds no answer', async (t) => {
  t.strictSame(await firstEvent(streamOf().stream), { nothing: true })
})
