import { ProtocolError } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { attempt } from '../../attempt.ts'
import { excerpt } from '../../call/excerpt.ts'
import type { Answer, Hooks } from '../../extension.ts'
import type { Args, Outcome } from '../../model.ts'
import { traceFromMeta } from '../../call/trace.ts'
import { isTooDeep } from '../../depth.ts'
import { isObject } from '../../schema/json-schema.ts'
import { PROTOCOL_VERSIONS } from '../../types.ts'
import { ERROR, SERVER, currentTrace, placeOf, type Attributes, type Span, type Telemetry } from './context.ts'

/** What the conventions want for MCP, in seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
const METHOD = 'tools/call'
/** The code of a challenge to sign in, in the body of the 401 or 403. */
const CHALLENGE = -32000
const INTERNAL_ERROR = -32603
/** Names of methods are the client's, so those that this server does not answer have no measurements of their own. */
const METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'server/discover',
  'skills/get',
  'skills/list',
  'subscriptions/listen',
  'tasks/cancel',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tools/list'
])
const OTHER_METHOD = '_OTHER'

/**
 * Records messages by the
 * [semantic conventions for MCP](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md).
 * Route and handler run inside the span.
 */
export function observerFrom (telemetry: Telemetry): Required<Pick<Hooks, 'call' | 'message'>> {
  const { tracer, meter, content = false } = telemetry
  const durations = meter?.createHistogram('mcp.server.operation.duration', {
    unit: 's',
    description:
      'MCP request or notification duration as observed on the receiver from the time it was received until the ' +
      'result or ack is sent.',
    advice: { explicitBucketBoundaries: BUCKETS }
  })

  function end (span: Span | undefined, start: number, attributes: Attributes, outcome: Attributes): void {
    if (span !== undefined) {
      span.setAttributes(outcome)
      // Without a description: what the model reads may quote the arguments.
      if ('error.type' in outcome) span.setStatus({ code: ERROR })
      span.end()
    }
    durations?.record((performance.now() - start) / 1000, { ...attributes, ...outcome })
  }

  function started<R> (
    name: string,
    message: Message,
    shared: Attributes,
    own: Attributes,
    meta: Args | undefined,
    run: (span: Span | undefined) => R
  ): R {
    if (tracer === undefined) return run(undefined)
    const place = placeOf(traceFromMeta(meta))
    const id = idOf(message)
    const attributes = { ...shared, ...own, ...id !== undefined && { 'jsonrpc.request.id': id } }
    const options = {
      kind: SERVER,
      attributes,
      links: place?.transport === undefined ? [] : [{ context: place.transport.spanContext() }]
    }
    return place === undefined
      ? tracer.startActiveSpan(name, options, run)
      : tracer.startActiveSpan(name, options, place.context, run)
  }

  return {
    call ({ name, tool, args, outer, meta, start, endpoint }, run) {
      // Names of tools that do not exist are the client's, and without end.
      const known = tool?.public.name ?? (endpoint.own?.tools().has(name) === true ? name : undefined)
      const shared = sharedByCall(outer, known)
      return started(
        known === undefined ? METHOD : `${METHOD} ${known}`,
        callIn(outer.body),
        shared,
        {
          ...known === undefined && { 'gen_ai.tool.name': excerpt(name) },
          ...content && tool !== undefined && !isTooDeep(args) && { 'gen_ai.tool.call.arguments': JSON.stringify(args) }
        },
        meta,
        (span) =>
          // The route's request continues the trace from this span, not from that of the client.
          run(span === undefined ? meta : { ...meta, ...currentTrace() }).then((outcome) => {
            if (content && tool !== undefined && 'content' in outcome && outcome.isError !== true) {
              span?.setAttributes({
                'gen_ai.tool.call.result': outcome.structured?.text ?? JSON.stringify(outcome.content)
              })
            }
            end(span, start, shared, outcomeOf(outcome))
            return outcome
          })
      )
    },
    async message ({ body, outer }, run) {
      const given = isObject(body) ? body.method : undefined
      if (typeof given !== 'string') return await run()
      const start = performance.now()
      const method = METHODS.has(given) ? given : OTHER_METHOD
      const shared = sharedBy(outer, method)
      const message = body as Message
      const { uri } = paramsOf(message)
      return await started(
        method,
        message,
        shared,
        typeof uri === 'string' ? { 'mcp.resource.uri': excerpt(uri) } : {},
        metaOf(message),
        async (span) => {
          try {
            const answer = await run()
            end(span, start, shared, outcomeOfAnswer(answer))
            return answer
          } catch (error) {
            end(span, start, shared, errorOf(error instanceof ProtocolError ? error.code : INTERNAL_ERROR))
            throw error
          }
        }
      )
    }
  }
}

/** What spans and measurements have in common: nothing that grows with the number of calls or clients. */
function sharedBy ({ raw }: FastifyRequest, method: string): Attributes {
  const version = raw.headers['mcp-protocol-version']
  return {
    'mcp.method.name': method,
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'network.protocol.version': raw.httpVersion,
    ...isKnown(version) && { 'mcp.protocol.version': version }
  }
}

function sharedByCall (request: FastifyRequest, tool?: string): Attributes {
  return {
    ...sharedBy(request, METHOD),
    'gen_ai.operation.name': 'execute_tool',
    ...tool !== undefined && { 'gen_ai.tool.name': tool }
  }
}

/** Any other is refused, but maybe only after the call was recorded. */
function isKnown (version: unknown): version is string {
  return PROTOCOL_VERSIONS.some((known) => known === version)
}

function outcomeOf (outcome: Outcome): Attributes {
  if (!('content' in outcome)) return errorOf(outcome.code)
  const { isError, challenge } = outcome
  if (challenge !== undefined) return errorOf(CHALLENGE)
  return isError === true ? { 'error.type': 'tool_error' } : {}
}

function errorOf (code: number): Attributes {
  return { 'error.type': String(code), 'rpc.response.status_code': String(code) }
}

function outcomeOfAnswer (answer: Answer): Attributes {
  const { error } = Object(attempt(() => JSON.parse(String(answer)))) as { readonly error?: unknown }
  const { code } = Object(error) as { readonly code?: unknown }
  return typeof code === 'number' ? errorOf(code) : {}
}

type Message = Readonly<Record<string, unknown>>

/** The call in a message, which may be a batch with one call. */
function callIn (body: unknown): Message {
  const call: unknown = [body].flat().find((message) => isObject(message) && message.method === METHOD)
  return isObject(call) ? call : {}
}

function idOf ({ id }: Message): string | undefined {
  return typeof id === 'string' || typeof id === 'number' ? excerpt(String(id)) : undefined
}

function paramsOf ({ params }: Message): Message {
  return isObject(params) ? params : {}
}

function metaOf (message: Message): Message | undefined {
  const { _meta: meta } = paramsOf(message)
  return isObject(meta) ? meta : undefined
}
