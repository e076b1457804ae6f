import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { excerpt } from '../../call/excerpt.ts'
import { targetOf } from '../../call/guard.ts'
import { forwardedNames } from '../../call/headers.ts'
import { injectLoopback, lightLoopback } from '../../call/loopback.ts'
import { isRefusal, requestFromCall } from '../../call/request.ts'
import { decoded, isTextual, mediaType, resultFromResponse } from '../../call/result.ts'
import type { ToolResult } from '../../model.ts'
import { Deadlines, stoppedText, type Stop } from '../../call/stop.ts'
import { addTrace, traceFromMeta } from '../../call/trace.ts'
import type { Settings } from '../../settings.ts'
import { impliedValues } from '../../tool/implied.ts'
import type { InnerResponse } from '../../types.ts'
import type { ResourceDefinition, ResourceRule } from './config.ts'
import type { FoundResource } from './resources.ts'

/** A request for a resource, by the client of `outer`. */
export interface Reading extends FoundResource {
  readonly uri: string
  readonly outer: FastifyRequest
  /** `params._meta` of the message. */
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly stop: Stop
  /** Called with a response that challenges the client to log in, before the error. */
  readonly refuse: (result: ToolResult) => void
}

/** What a client gets: the content, and how long it may keep it. */
export interface ReadResult {
  readonly contents: readonly [
    & { readonly uri: string, readonly mimeType?: string }
    & ({ readonly text: string } | { readonly blob: string })
    & Pick<ResourceDefinition, '_meta'>
  ]
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** Reads a resource by a request to its route. Every failure is an error of the protocol. */
export type ReadResource = (reading: Reading) => Promise<ReadResult>

/** The statuses that say that a URI names nothing that can be read. */
const NOT_FOUND = new Set([400, 404, 410, 414, 422])
/** Statuses of a client's error are no internal ones, but JSON-RPC has no code for them. */
const REFUSED = ProtocolErrorCode.InternalError

/** @param maxParamLength - of the router, in characters */
export function resourceReader (app: FastifyInstance, settings: Settings, maxParamLength: number): ReadResource {
  const { impliedArguments, resultHeaders, maxResultBytes, toolTimeout } = settings
  const forwardHeaders = forwardedNames(settings.forwardHeaders)
  const deadlines = new Deadlines(toolTimeout)

  return async ({ resource: { tool, rule }, args, uri, outer, meta, stop, refuse }) => {
    const missing = (why: string): ResourceNotFoundError =>
      new ResourceNotFoundError(uri, `Resource not found: ${excerpt(uri)}: ${why}`)
    const request = requestFromCall(tool, { ...impliedValues(tool, outer, impliedArguments), ...args }, {
      headers: outer.raw.headers,
      forwardHeaders,
      maxParamLength
    })
    if (isRefusal(request)) throw missing(request.refusal)
    const { kind, definition: { mimeType } } = rule
    if (mimeType !== undefined) request.headers.accept = `${kind?.accept ?? mimeType}, */*;q=0.8`
    const trace = traceFromMeta(meta)
    if (trace !== undefined) addTrace(request.headers, trace, forwardHeaders)
    const target = targetOf({ tool, params: request.params, sent: request.sent })
    const timed = deadlines.start(stop)
    let response: InnerResponse | undefined
    try {
      response = await (tool.inject ? injectLoopback : lightLoopback)(app, request, {
        outer,
        stop,
        maxBytes: maxResultBytes,
        target
      })
    } catch (error) {
      outer.log.error({ err: error, uri }, 'the route of a resource did not answer')
    } finally {
      deadlines.finish(timed)
    }
    if (target.missed !== undefined) {
      throw missing(`its address belongs ${target.missed === 'no route' ? 'to no route' : 'to another route'}`)
    }
    if (target.changed !== undefined) throw missing(target.changed)
    if (response === undefined) throw new ProtocolError(REFUSED, stoppedText(stop, outer, toolTimeout, ''))
    if (response.statusCode < 300) {
      const size = Buffer.byteLength(response.body)
      if (size > maxResultBytes) {
        throw new ProtocolError(
          REFUSED,
          `The resource has ${response.cut ? 'at least ' : ''}${size} bytes, more than the ${maxResultBytes} ` +
            'that one read may return.'
        )
      }
      return readResult(uri, rule, response, settings)
    }
    const result = resultFromResponse(tool, response, {
      requestId: outer.id,
      url: () => uri,
      resultHeaders,
      maxResultBytes,
      open: ''
    })
    if (result.challenge !== undefined) refuse(result)
    const [said] = result.content
    const text = said?.type === 'text' ? said.text : ''
    throw NOT_FOUND.has(response.statusCode) ? missing(text) : new ProtocolError(REFUSED, text)
  }
}

function readResult (
  uri: string,
  { kind, definition }: ResourceRule,
  response: InnerResponse,
  settings: Settings
): ReadResult {
  const { headers, body } = response
  const sent = mediaType({ headers })
  // What a host runs as a page must be meant as one.
  if (kind !== undefined && sent !== kind.accept) {
    throw new ProtocolError(
      REFUSED,
      `The route of the view answered with ${sent || 'no media type'}, not ${kind.accept}`
    )
  }
  const mimeType = kind !== undefined ? definition.mimeType : sent || definition.mimeType
  const text = isTextual(mimeType ?? '') ? decoded(response) : undefined
  return {
    contents: [{
      uri,
      ...mimeType && { mimeType },
      ...kind !== undefined && definition._meta && { _meta: definition._meta },
      ...text !== undefined ? { text } : { blob: Buffer.from(body as string).toString('base64') }
    }],
    ...cacheHints(headers, settings)
  }
}

/** Headers of which every reader of a resource sends the same, or that change nothing but the transfer. */
const SAME_FOR_ALL = new Set(['accept', 'accept-encoding', 'origin', ''])

/**
 * What the route says to HTTP caches. Only where the host lets caches share the lists may they share what these name,
 * and never what sets a cookie or differs by another header of the request: clients cannot tell for whom it is.
 */
function cacheHints (
  { vary, 'cache-control': control, 'set-cookie': cookie }: InnerResponse['headers'],
  { cacheScope }: Pick<Settings, 'cacheScope'>
): Pick<ReadResult, 'ttlMs' | 'cacheScope'> {
  const isForAll = cookie === undefined &&
    String(vary ?? '').toLowerCase().split(',').every((name) => SAME_FOR_ALL.has(name.trim()))
  const directives = String(control ?? '').toLowerCase().split(',').map((part) => part.trim())
  const seconds = directives.map((part) => /^max-age="?(\d{1,9})"?$/.exec(part)?.[1]).find((age) => age !== undefined)
  // The careful one of two that contradict each other counts, and one for some headers only, as in
  // private="set-cookie", for all.
  const says = (name: string): boolean => directives.some((part) => part === name || part.startsWith(`${name}=`))
  const isKept = !says('no-store') && !says('no-cache')
  return {
    ttlMs: isKept ? Number(seconds ?? 0) * 1000 : 0,
    cacheScope: cacheScope === 'public' && isForAll && says('public') && !says('private') ? 'public' : 'private'
  }
}
