import { type PassThrough, pipeline, Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { attempt } from '../attempt.ts'
import type { Closing } from '../call/stop.ts'
import { isObject } from '../schema/json-schema.ts'
import type { Answer } from '../extension.ts'
import type { ToolResult } from '../model.ts'
import type { Alive } from './alive.ts'
import { eventOf, rpcError, sendAnswer, sendChallenge } from './answer.ts'
import type { Found } from './dispatch.ts'
import { idOf, type SdkAnswer, type SdkHandler } from './sdk.ts'
import { acceptedForm, acceptsStream } from './wire.ts'

/**
 * Answers a message of any kind by the SDK.
 * @param found - what its call comes to, if that is known already
 */
export type Relay = (request: FastifyRequest, reply: FastifyReply, body: unknown, found?: Found) => Promise<Answer>

/**
 * Passes one message to the SDK and its response to Fastify, so that hooks and headers of the host apply. The SDK
 * streams even a single answer; the client gets that in the same form as direct answers.
 */
export function relayTo (sdk: SdkHandler, closing: Closing, alive: Alive | undefined): Relay {
  return async (request, reply, body, found) => {
    const stop = closing.track(request, reply)
    const form = Array.isArray(body) ? undefined : acceptedForm(request.headers.accept)
    const silent = form === undefined ? undefined : alive?.start(request, reply)
    let answered: Answered
    let begun: PassThrough | undefined
    try {
      answered = await answeredIn(await sdk.fetch(request, body, stop, form !== undefined, found), form, request)
    } finally {
      begun = silent && alive?.finish(silent)
    }
    const { response, refusal, stream, answer } = answered
    if (stream !== undefined) {
      // Whichever end breaks off, so does the other.
      if (begun !== undefined) pipeline(Readable.fromWeb(stream as NodeStream), begun, () => {})
      else reply.send(new Response(stream, response))
      return undefined
    }
    // The status has been sent: what would have another one is an answer like others.
    if (begun !== undefined) {
      begun.end(eventOf(answer ?? FAILED))
      return answer ?? FAILED
    }
    if (refusal?.challenge !== undefined) {
      sendChallenge(reply, idOf(body), refusal, refusal.challenge)
      return CHALLENGED
    }
    if (answer !== undefined) {
      if (form !== undefined && answered.isWhole) sendAnswer(reply, form, answer)
      else reply.send(new Response(answer, response))
      return answer
    }
    if (!answered.isWhole) {
      reply.send(response)
      return undefined
    }
    if (stop.reason === 'closing') reply.code(503).send(rpcError(-32000, 'The server is closing', idOf(body)))
    else reply.code(500).send(rpcError(-32603, 'Internal error', idOf(body)))
    return FAILED
  }
}

/** What the SDK answered. */
interface Answered {
  readonly response: Response
  /** What challenges the client to log in. */
  readonly refusal: ToolResult | undefined
  /** Messages come before the answer, or keep-alive comments. */
  readonly stream: ReadableStream<Uint8Array> | undefined
  /** The JSON of the answer. */
  readonly answer: string | undefined
  /** Whether the answer is all that the client gets, with 200; else status and headers are those of the response. */
  readonly isWhole: boolean
}

/** @param form - undefined for batches, whose response goes on as it is */
async function answeredIn (
  { response, refused, written }: SdkAnswer,
  form: 'json' | 'stream' | undefined,
  { headers: { accept } }: FastifyRequest
): Promise<Answered> {
  const streamed = form !== undefined && isEventStream(response)
    ? await firstEvent(response.body, acceptsStream(accept))
    : undefined
  const known = { response, refusal: refused(), stream: undefined }
  if (streamed !== undefined && 'stream' in streamed) {
    return { ...known, stream: streamed.stream, answer: undefined, isWhole: true }
  }
  const answer = form === undefined ? undefined : written()
  if (answer !== undefined) return { ...known, answer, isWhole: true }
  if (streamed !== undefined) return { ...known, answer: streamed.answer, isWhole: true }
  return { ...known, answer: isJson(response) ? inWords(await response.text()) : undefined, isWhole: false }
}

/** What is seen of an answer that is no JSON of the SDK's. */
const CHALLENGED = JSON.stringify(rpcError(-32000, ''))
const FAILED = JSON.stringify(rpcError(-32603, ''))

function isEventStream (response: Response): response is Response & { body: NonNullable<Response['body']> } {
  return response.body !== null && (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
}

function isJson (response: Response): boolean {
  return response.body !== null && (response.headers.get('content-type') ?? '').startsWith('application/json')
}

/** An event stream, by its first event: others come before the answer, or it needs no stream. */
type Streamed =
  | { readonly stream: ReadableStream<Uint8Array> }
  /** Undefined if the stream ended before it. */
  | { readonly answer: string | undefined }

/**
 * Reads the first event of a stream of JSON-RPC messages. The SDK writes each message in one piece.
 *
 * @param mayStream - whether the client accepts a stream; else all that comes before the answer is left out
 */
async function firstEvent (body: ReadableStream<Uint8Array>, mayStream: boolean): Promise<Streamed> {
  const reader = body.getReader()
  for (;;) {
    const { value } = await reader.read()
    if (value === undefined) return { answer: undefined }
    const answer = answerOf(Buffer.from(value).toString())
    if (answer === undefined && mayStream) return { stream: continued(value, reader) }
    if (answer === undefined) continue
    await reader.cancel()
    return { answer }
  }
}

/** The JSON of an event that is an answer to a request. */
function answerOf (event: string): string | undefined {
  const data = /^(?:event: message\n)?data: (.*)\n\n$/.exec(event)?.[1]
  if (data === undefined) return undefined
  const message = JSON.parse(data) as object
  return 'result' in message || 'error' in message ? inWords(data, message) : undefined
}

/** An answer, with errors that a person can read. */
function inWords (answer: string, message = JSON.parse(answer) as object): string {
  const invalid = invalidParams(message)
  return invalid === undefined ? answer : JSON.stringify(invalid)
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

const INTERNAL_ERROR = -32603
const INVALID_PARAMS = -32602
/** How many members an error names. */
const MAX_NAMED = 3

/**
 * The SDK reports members of a wrong type as JSON that lists all issues, some as an internal error. Such an error
 * becomes -32602 with a sentence.
 * @param message - an answer
 * @returns undefined for every other answer
 */
function invalidParams (message: object): object | undefined {
  const error: unknown = Reflect.get(message, 'error')
  if (
    !isObject(error) || (error.code !== INTERNAL_ERROR && error.code !== INVALID_PARAMS) ||
    typeof error.message !== 'string'
  ) return undefined
  const start = error.message.indexOf('[')
  const issues: unknown = start < 0 || error.data !== undefined
    ? undefined
    : attempt(() => JSON.parse((error.message as string).slice(start)))
  if (!Array.isArray(issues) || issues.length === 0 || !issues.every(isIssue)) return undefined
  const said = issues.slice(0, MAX_NAMED).map(({ path, message }) => `${path.join('.')}: ${message}`)
  return {
    ...message,
    error: {
      code: INVALID_PARAMS,
      message: `Invalid params: ${[...said, ...issues.length > MAX_NAMED ? ['…'] : []].join('; ')}`
    }
  }
}

function isIssue (value: unknown): value is { readonly path: readonly unknown[], readonly message: string } {
  return isObject(value) && Array.isArray(value.path) && typeof value.message === 'string'
}
