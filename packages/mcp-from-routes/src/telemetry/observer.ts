import type { FastifyRequest } from 'fastify'
import type { Call, CallTool } from '../call/call.ts'
import { excerpt } from '../call/excerpt.ts'
import type { ToolResult } from '../call/result.ts'
import { traceFromMeta } from '../call/trace.ts'
import { PROTOCOL_VERSIONS } from '../versions.ts'
import { isObject } from '../tool/json-schema.ts'
import { ERROR, SERVER } from './api.ts'
import type { Attributes, Span, Telemetry } from './api.ts'
import { currentTrace, placeOf } from './context.ts'

/** Records tool calls by the [semantic conventions for MCP](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md). */
export interface Observer {
  /** Records what `answer` does. Route and handler run inside the span. */
  readonly observed: (answer: CallTool) => CallTool
  /**
   * Records a call that is answered with a JSON-RPC error instead of a result.
   * @param tool - its name if there is such a tool
   */
  readonly refused: (request: FastifyRequest, code: number, tool?: string) => void
}

/** What the conventions want for MCP, in seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
const METHOD = 'tools/call'
/** The code of a challenge to sign in, in the body of the 401 or 403. */
const CHALLENGE = -32000
const NOT_OBSERVED: Observer = { observed: (answer) => answer, refused: () => {} }

export function observerFrom (telemetry: Telemetry | undefined): Observer {
  if (telemetry === undefined) return NOT_OBSERVED
  const { tracer, meter, content = false } = telemetry
  const durations = meter?.createHistogram('mcp.server.operation.duration', {
    unit: 's', description: 'MCP request or notification duration as observed on the receiver from the time it was received until the result or ack is sent.', advice: { explicitBucketBoundaries: BUCKETS }
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

  function started<R> (request: FastifyRequest, tool: string | undefined, shared: Attributes, own: Attributes, meta: Call['meta'], run: (span: Span | undefined) => R): R {
    if (tracer === undefined) return run(undefined)
    const place = placeOf(traceFromMeta(meta))
    const id = idOf(request.body)
    const attributes = { ...shared, ...own, ...id !== undefined && { 'jsonrpc.request.id': id } }
    const options = { kind: SERVER, attributes, links: place?.transport === undefined ? [] : [{ context: place.transport.spanContext() }] }
    // Names of tools that do not exist are the client's, and without end.
    const name = tool === undefined ? METHOD : `${METHOD} ${tool}`
    return place === undefined ? tracer.startActiveSpan(name, options, run) : tracer.startActiveSpan(name, options, place.context, run)
  }

  return {
    observed: (answer) => (call) => {
      const { tool: { public: { name } }, args, outer, meta } = call
      const start = performance.now()
      const shared = { ...sharedBy(outer), 'gen_ai.tool.name': name }
      return started(outer, name, shared, content ? { 'gen_ai.tool.call.arguments': JSON.stringify(args) } : {}, meta, (span) =>
        // The route's request continues the trace from this span, not from that of the client.
        answer(span === undefined ? call : { ...call, meta: { ...meta, ...currentTrace() } }).then((result) => {
          if (content && result.isError !== true) span?.setAttributes({ 'gen_ai.tool.call.result': result.structured?.text ?? JSON.stringify(result.content) })
          end(span, start, shared, outcomeOf(result))
          return result
        }))
    },
    refused (request, code, tool) {
      const start = performance.now()
      const shared = { ...sharedBy(request), ...tool !== undefined && { 'gen_ai.tool.name': tool } }
      const { name, _meta: meta } = paramsOf(request.body)
      const called = tool === undefined && typeof name === 'string' ? { 'gen_ai.tool.name': excerpt(name) } : {}
      started(request, tool, shared, called, isObject(meta) ? meta : undefined, (span) => end(span, start, shared, errorOf(code)))
    }
  }
}

/** What spans and measurements have in common: nothing that grows with the number of calls or clients. */
function sharedBy ({ raw }: FastifyRequest): Attributes {
  const version = raw.headers['mcp-protocol-version']
  return {
    'mcp.method.name': METHOD,
    'gen_ai.operation.name': 'execute_tool',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'network.protocol.version': raw.httpVersion,
    ...isKnown(version) && { 'mcp.protocol.version': version }
  }
}

/** Any other is refused, but maybe only after the call was recorded. */
function isKnown (version: unknown): version is string {
  return PROTOCOL_VERSIONS.some((known) => known === version)
}

function outcomeOf ({ isError, challenge }: ToolResult): Attributes {
  if (challenge !== undefined) return errorOf(CHALLENGE)
  return isError === true ? { 'error.type': 'tool_error' } : {}
}

function errorOf (code: number): Attributes {
  return { 'error.type': String(code), 'rpc.response.status_code': String(code) }
}

/** The call in a message, which may be a batch with one call. */
function callIn (body: unknown): Readonly<Record<string, unknown>> {
  const call: unknown = [body].flat().find((message) => isObject(message) && message.method === METHOD)
  return isObject(call) ? call : {}
}

function idOf (body: unknown): string | undefined {
  const { id } = callIn(body)
  return typeof id === 'string' || typeof id === 'number' ? excerpt(String(id)) : undefined
}

function paramsOf (body: unknown): Readonly<Record<string, unknown>> {
  const { params } = callIn(body)
  return isObject(params) ? params : {}
}
