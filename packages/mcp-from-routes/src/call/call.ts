import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Args, Begun, BegunCall, Call, Outcome, Running, Tool, ToolResult } from '../model.ts'
import type { Settings } from '../settings.ts'
import { impliedValues } from '../tool/implied.ts'
import { ownAndOthers } from '../tool/parts.ts'
import type { InnerRequest, InnerResponse } from '../types.ts'
import { excerpt } from './excerpt.ts'
import { type Target, targetOf } from './guard.ts'
import { forwardedNames } from './headers.ts'
import { injectLoopback, lightLoopback } from './loopback.ts'
import { argumentsAsRead, isRefusal, problemsOf, requestFromCall, Unsendable } from './request.ts'
import { errorResult, errorTextOf, resultFromResponse } from './result.ts'
import { Deadlines, stoppedText } from './stop.ts'
import { addTrace, traceFromMeta } from './trace.ts'
import { unforwardedRemark } from './unforwarded.ts'

/** What came of a call's request, for what follows its result. */
interface Seen {
  readonly request: InnerRequest | undefined
  readonly response: InnerResponse | undefined
}

/** Calls a tool. Every failure is a result that says so. */
export type CallTool = (call: Call) => Promise<Outcome>

/** The stages of a call: arguments to request, request to response, response to result. */
export function toolCaller (app: FastifyInstance, settings: Settings): CallTool {
  const { impliedArguments, resultHeaders, maxResultBytes, toolTimeout, onToolCall } = settings
  const forwardHeaders = forwardedNames(settings.forwardHeaders)
  const maxParamLength = maxParamLengthOf(app)
  const deadlines = new Deadlines(toolTimeout)
  const remarkUnforwarded = unforwardedRemark(settings)
  const unpromised = new Set<Tool>()

  /**
   * The arguments of the call, with those that the caller's request implies.
   *
   * @returns undefined if a function of the host threw
   */
  function argumentsOf (tool: Tool, args: Args, outer: FastifyRequest): Args | undefined {
    if (tool.public.implied === undefined) return args
    try {
      return { ...impliedValues(tool, outer, impliedArguments), ...args }
    } catch (error) {
      outer.log.error({ err: error, tool: tool.public.name }, 'impliedArguments threw')
      return undefined
    }
  }

  function answer (call: Call): Promise<Outcome> {
    const { tool, outer } = call
    const { begin } = tool
    if (begin === undefined) {
      const given = argumentsOf(tool, call.args, outer)
      return given === undefined ? failedHost(outer) : send(call, given, undefined)
    }
    const { own, others } = ownAndOthers(tool.part, call.args)
    const given = argumentsOf(tool, others, outer)
    const begun = begin({ ...call, own, given: given ?? others })
    const seen: Seen = { request: undefined, response: undefined }
    const outcome = given === undefined ? failedHost(outer) : begunOutcome(call, given, begun, seen)
    const end = begun?.end
    return end === undefined
      ? outcome
      : outcome.then((one) =>
        'content' in one && one.answer === undefined ? end(one, seen.response, seen.request) : one
      )
  }

  function begunOutcome (call: Call, given: Args, begun: Begun, seen: Seen): Promise<Outcome> {
    if (begun !== undefined && 'outcome' in begun) return Promise.resolve(begun.outcome)
    if (begun !== undefined && 'problem' in begun) {
      const problems = [begun.problem, ...problemsOf(call.tool, given, { maxParamLength })]
      return Promise.resolve(errorResult(problems.join('\n')))
    }
    return send(call, given, begun, seen)
  }

  // Promises are chained by hand on this path: an async function costs a tenth of a call.
  function send (call: Call, given: Args, running: Running | undefined, seen?: Seen): Promise<Outcome> {
    const { tool, outer, meta, stop, onChunk } = call
    const request = requestFromCall(tool, given, { headers: outer.raw.headers, forwardHeaders, maxParamLength })
    if (isRefusal(request)) return Promise.resolve(errorResult(request.refusal))
    const trace = traceFromMeta(meta)
    if (trace !== undefined) addTrace(request.headers, trace, forwardHeaders)
    const target = targetOf({ tool, params: request.params, sent: request.sent, running })
    const timed = deadlines.start(stop)
    const loopback = tool.inject ? injectLoopback : lightLoopback
    return loopback(app, request, { outer, stop, maxBytes: maxResultBytes, target, onChunk }).then((response) => {
      deadlines.finish(timed)
      if (seen !== undefined && target.held === undefined) Object.assign(seen, { request, response })
      return read(call, request, target, response)
    }, (error: unknown) => {
      deadlines.finish(timed)
      return failed(call, request, error)
    })
  }

  function read (
    call: Call,
    request: InnerRequest,
    target: Target,
    response: InnerResponse | undefined
  ): Outcome {
    const { tool, outer, stop } = call
    const { running } = target
    try {
      if (target.missed !== undefined) return errorResult(missedText(target, request.headers.host))
      if (target.changed !== undefined) return errorResult(target.changed)
      if (target.held !== undefined) return target.held
      if (response === undefined) return errorResult(stoppedText(stop, outer, toolTimeout, openOf(tool, request)))
      const context = {
        requestId: outer.id,
        url: () => `${outer.protocol}://${outer.host}${request.url}`,
        resultHeaders,
        maxResultBytes,
        open: openOf(tool, request)
      }
      const shown = running?.response === undefined ? response : running.response(response)
      const result = resultFromResponse(tool, shown, context)
      if (response.statusCode === 401) remarkUnforwarded(tool, outer)
      if (result.isUnpromised) remarkUnpromised(call, response)
      return result
    } catch (error) {
      return failed(call, request, error)
    }
  }

  /** Clients say nothing of it to the host. */
  function remarkUnpromised ({ tool, outer }: Call, { statusCode }: InnerResponse): void {
    if (unpromised.has(tool)) return
    unpromised.add(tool)
    outer.log.warn(
      { tool: tool.public.name, statusCode },
      'the response of a tool has no response schema or does not fit it, so clients get an error that contains it'
    )
  }

  function failed ({ tool, outer, stop }: Call, request: InnerRequest, error: unknown): ToolResult {
    outer.log.error({ err: error, tool: tool.public.name }, 'the route of a tool did not answer')
    return errorResult(stoppedText(stop, outer, toolTimeout, openOf(tool, request)))
  }

  if (onToolCall === undefined) return answer
  return async (call) => {
    const start = performance.now()
    const outcome = await answer(call)
    const { tool: { public: tool }, calledAs, args, outer: request, stop } = call
    const logError = (error: unknown): void => request.log.error({ err: error }, 'onToolCall failed')
    const result = 'content' in outcome ? outcome : errorResult(outcome.message)
    try {
      const returned = onToolCall({
        tool,
        calledAs,
        request,
        arguments: args,
        duration: performance.now() - start,
        isError: result.isError === true,
        error: errorTextOf(result),
        statusCode: result.statusCode,
        ended: stop.reason
      })
      // The caller does not wait for it.
      if (returned !== undefined) Promise.resolve(returned).catch(logError)
    } catch (error) {
      logError(error)
    }
    return outcome
  }
}

/** What is said of a call that may have been carried out. */
function openOf ({ open, repeat }: Tool, { headers }: InnerRequest): string {
  return repeat === undefined || headers[repeat.header] === undefined ? open : repeat.open
}

function failedHost (outer: FastifyRequest): Promise<ToolResult> {
  return Promise.resolve(errorResult(`The call failed. The request id is ${outer.id}.`))
}

/** What `Core.read` gives: the arguments of a call as its route gets them, or what is wrong with them. */
export function argumentReader (app: FastifyInstance): (call: BegunCall) => Args | string {
  const maxParamLength = maxParamLengthOf(app)
  return ({ tool, given }) => {
    const read = argumentsAsRead(tool, given)
    return read instanceof Unsendable ? problemsOf(tool, given, { maxParamLength }).join('\n') : read
  }
}

/**
 * The longest path parameter that the router takes, in characters. Its own options come first, as they do for Fastify.
 */
export function maxParamLengthOf ({ initialConfig }: FastifyInstance): number {
  const { maxParamLength = 100, routerOptions } = initialConfig as {
    maxParamLength?: number,
    routerOptions?: { maxParamLength?: number }
  }
  return routerOptions?.maxParamLength ?? maxParamLength
}

/**
 * The error of a call that the guard refused because it would have run another route. Only the log names that route.
 */
function missedText ({ tool, params, missed }: Target, host: string | undefined): string {
  const owner = missed === 'no route' ? 'to no route' : 'to another route'
  // Callers can neither see nor change a fixed value, so errors do not name it.
  const values = tool.request.input.inputs.flatMap(({ place, name, argument }) =>
    place === 'path' && argument !== undefined && params.has(name)
      ? `${argument} ${JSON.stringify(params.get(name))}`
      : []
  )
  if (values.length > 0) return `${values.join(', ')} cannot be used here: that address belongs ${owner}.`
  if (tool.isForOneHost) return `This tool is not for the host ${excerpt(host ?? 'that was called')}.`
  return `This tool cannot be called: its address belongs ${owner} for this request.`
}
