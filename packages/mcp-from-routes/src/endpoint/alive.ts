import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Closing } from '../call/stop.ts'
import { Recurring, type Timed } from '../recurring.ts'
import { asStream } from './answer.ts'
import { acceptsStream } from './wire.ts'

/*
 * What is between a client and the server ends a connection on which nothing has come for some time, often a minute.
 * So the answer of a call that takes long becomes an event stream with comments, if its client accepts one.
 */

/** A call that has not been answered. */
interface Silent {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Of its answer, once that has begun. */
  stream: PassThrough | undefined
}

/** Keeps the connections of long calls. */
export interface Alive {
  readonly start: (request: FastifyRequest, reply: FastifyReply) => Timed<Silent>
  /** Is called once for each. @returns the stream on which the answer has begun; undefined if it may be sent */
  readonly finish: (call: Timed<Silent>) => PassThrough | undefined
}

/** @param interval - between two signs of life, in milliseconds */
export function keptAlive (interval: number, closing: Closing): Alive {
  const calls = new Recurring<Silent>(interval, (call) => {
    if (call.stream === undefined && acceptsStream(call.request.headers.accept)) call.stream = begin(call)
    // A client that has gone does not read.
    if (call.stream?.destroyed === false) call.stream.write(': the call goes on\n\n')
  })

  function begin ({ request, reply }: Silent): PassThrough {
    const stream = new PassThrough()
    closing.endWith(request, reply)
    asStream(reply).send(stream)
    return stream
  }

  return {
    start: (request, reply) => calls.start({ request, reply, stream: undefined }),
    finish (call) {
      calls.finish(call)
      return call.value.stream
    }
  }
}
