import type { FastifyReply, FastifyRequest } from 'fastify'
import { attempt } from '../attempt.ts'
import type { Closing } from '../call/stop.ts'
import { isObject } from '../schema/json-schema.ts'
import { rpcError, sendAnswer, sendChallenge } from './answer.ts'
import type { Answer } from '../extension.ts'
import type { Found } from './dispatch.ts'
import type { SdkHandler } from './sdk.ts'
import { acceptedForm } from './wire.ts'

/**
 * Answers a message of any kind by the SDK.
 * @param found - what its call comes to, if that is known already
 */
export type Relay = (request: FastifyRequest, reply: FastifyReply, body: unknown, found?: Found) => Promise<Answer>

/**
 * Passes one message to the SDK and its response to Fastify, so that hooks and headers of the host apply. The SDK
 * streams even a single answer; the client gets that in the same form as direct answers.
 */
export function relayTo (sdk: SdkHandler, closing: Closing): Relay {
  return async (request, reply, body, found) => {
    const stop = closing.track(request, reply)
    const form = Array.isArray(body) ? undefined : acceptedForm(request.headers.accept)
    const { response, refused, written } = await sdk.fetch(request, body, stop, form !== undefined, found)
    const id = isObject(body) ? body.id : undefined
    const streamed = form !== undefined && isEventStream(response) ? await firstEvent(response.body) : undefined
    if (streamed && 'stream' in streamed) {
      reply.send(new Response(streamed.stream, response))
      return undefined
    }
    const refusal = refused()
    if (refusal?.challenge !== undefined) {
      sendChallenge(reply, id, refusal, refusal.challenge)
      return CHALLENGED
    }
    const answer = written()
    if (answer !== undefined && form !== undefined) {
      sendAnswer(reply, form, answer)
      return answer
    }
    if (streamed === undefined || form === undefined) {
      if (!isJson(response)) {
        reply.send(response)
        return undefined
      }
      const answer = inWords(await response.text())
      reply.send(new Response(answer, response))
      return answer
    }
    if ('answer' in streamed) {
      sendAnswer(reply, form, streamed.answer)
      return streamed.answer
    }
    if (stop.reason === 'closing') reply.code(503).send(rpcError(-32000, 'The server is closing', id))
    else reply.code(500).send(rpcError(-32603, 'Internal error', id))
    return FAILED
  }
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

/** An event stream, classified by its first event. */
type Streamed =
  /** The first event is the answer and nothing follows, so no stream is needed. */
  | { readonly answer: string }
  /** Other messages come before the answer, or keep-alive comments. */
  | { readonly stream: ReadableStream<Uint8Array> }
  /** It ended before an answer. */
  | { readonly nothing: true }

/** Reads the first event of a stream of JSON-RPC messages. The SDK writes each message in one piece. */
async function firstEvent (body: ReadableStream<Uint8Array>): Promise<Streamed> {
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
