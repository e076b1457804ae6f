import type { FastifyInstance, FastifyRequest } from 'fastify'
import { TOKEN_ARGUMENT } from '../extensions/confirm/rule.ts'
import { holder, type Asking, type Hold } from '../extensions/confirm/held.ts'
import type { Sealer } from '../extensions/confirm/seal.ts'
import { excerpt } from './excerpt.ts'
import { selectionFrom, type Selection } from '../extensions/fields/cut.ts'
import type { Target } from './guard.ts'
import { injectLoopback, lightLoopback, type OnChunk } from './loopback.ts'
import type { Settings } from '../settings.ts'
import { argumentsAsRead, isRefusal, problemsOf, requestFromCall, Unsendable, type InnerRequest } from './request.ts'
import { errorResult, openOutcome, resultFromResponse, type ToolResult } from './result.ts'
import { Deadlines, stoppedText, type Stop } from './stop.ts'
import type { TaskRules } from '../extensions/tasks/rule.ts'
import { workFromResponse } from '../extensions/tasks/work.ts'
import { impliedValues } from '../tool/implied.ts'
import { addTrace, traceFromMeta } from './trace.ts'
import { unforwardedRemark } from './unforwarded.ts'
import { unpacked } from './unpacked.ts'
import { FIELDS_ARGUMENT } from '../extensions/fields/rule.ts'
import type { Tool } from '../tool/tool.ts'
import type { InnerResponse } from '../types.ts'

/** A call of a tool for the client of `outer`. */
export interface Call {
  readonly tool: Tool
  readonly args: Readonly<Record<string, unknown>>
  readonly outer: FastifyRequest
  /** `params._meta` of the message. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly stop: Stop
  readonly onChunk?: OnChunk | undefined
  /** What the message says about asking a person. Default: its client cannot. */
  readonly asking?: Asking | undefined
}

/** Calls a tool. Every failure is a result that says so. */
export type CallTool = (call: Call) => Promise<ToolResult>

/**
 * The stages of a call: arguments to request, request to response, response to result.
 * @param observed - adds telemetry
 */
export function toolCaller (
  app: FastifyInstance,
  settings: Settings,
  sealer: Sealer,
  rules: () => TaskRules,
  observed: (answer: CallTool) => CallTool
): CallTool {
  const { impliedArguments, resultHeaders, maxResultBytes, toolTimeout, onToolCall } = settings
  const forwardHeaders = new Set(settings.forwardHeaders)
  const maxParamLength = maxParamLengthOf(app)
  const deadlines = new Deadlines(toolTimeout)
  const hold = holder(sealer, settings)
  const remarkUnforwarded = unforwardedRemark(settings)
  const unpromised = new Set<Tool>()

  /**
   * The arguments of the call, with those that the caller's request implies.
   *
   * @returns undefined if a function of the host threw
   */
  function argumentsOf (tool: Tool, args: Call['args'], outer: FastifyRequest): Call['args'] | undefined {
    if (tool.public.implied === undefined) return args
    try {
      return { ...impliedValues(tool, outer, impliedArguments), ...args }
    } catch (error) {
      outer.log.error({ err: error, tool: tool.public.name }, 'impliedArguments threw')
      return undefined
    }
  }

  function problems (tool: Tool, { [TOKEN_ARGUMENT]: token, ...others }: Call['args']): readonly string[] {
    return problemsOf(
      tool,
      token === undefined || tool.confirm?.fallback === 'token' ? others : { ...others, [TOKEN_ARGUMENT]: token },
      { maxParamLength }
    )
  }

  // Promises are chained by hand on this path: an async function costs a tenth of a call.
  function answer (call: Call): Promise<ToolResult> {
    const { tool, outer, meta, stop, onChunk } = call
    const chosen = tool.fields === undefined || !Object.hasOwn(call.args, FIELDS_ARGUMENT)
      ? undefined
      : selectionFrom(tool.public.name, tool.fields, call.args[FIELDS_ARGUMENT])
    const given = argumentsOf(tool, tool.fields === undefined ? call.args : withoutFields(call.args), outer)
    if (given === undefined) return Promise.resolve(errorResult(`The call failed. The request id is ${outer.id}.`))
    if (chosen !== undefined && 'refusal' in chosen) {
      return Promise.resolve(errorResult([chosen.refusal, ...problems(tool, given)].join('\n')))
    }
    // A person is asked about what the route gets.
    const sent = isConfirmed(tool) ? argumentsAsRead(tool, given) : given
    if (sent instanceof Unsendable) return Promise.resolve(errorResult(problems(tool, given).join('\n')))
    const held = isConfirmed(tool) ? hold(tool, sent, outer, call.asking) : undefined
    if (held?.refused !== undefined) return Promise.resolve(held.refused)
    const request = requestFromCall(tool, held?.args ?? given, {
      headers: outer.raw.headers,
      forwardHeaders,
      maxParamLength
    })
    if (isRefusal(request)) return Promise.resolve(errorResult(request.refusal))
    const trace = traceFromMeta(meta)
    if (trace !== undefined) addTrace(request.headers, trace, forwardHeaders)
    const target: Target = {
      tool,
      params: request.params,
      held,
      sent: request.sent,
      missed: undefined,
      changed: undefined
    }
    const timed = deadlines.start(stop)
    const loopback = tool.inject ? injectLoopback : lightLoopback
    return loopback(app, request, { outer, stop, maxBytes: maxResultBytes, target, onChunk }).then((sent) => {
      deadlines.finish(timed)
      const isPacked = sent?.headers['content-encoding'] !== undefined
      return read(call, request, target, isPacked ? unpacked(sent, maxResultBytes) : sent, chosen)
    }, (error: unknown) => {
      deadlines.finish(timed)
      return failed(call, error)
    })
  }

  function read (
    call: Call,
    request: InnerRequest,
    target: Target,
    response: InnerResponse | undefined,
    chosen: Selection | undefined
  ): ToolResult | Promise<ToolResult> {
    const { tool, outer, stop } = call
    try {
      if (target.missed !== undefined) return errorResult(missedText(target, request.headers.host))
      if (target.changed !== undefined) return errorResult(target.changed)
      const asked = target.held?.result()
      if (asked !== undefined) return asked
      if (response === undefined) return errorResult(stoppedText(stop, outer, toolTimeout, openOf(tool)))
      const context = {
        requestId: outer.id,
        url: () => `${outer.protocol}://${outer.host}${request.url}`,
        resultHeaders,
        maxResultBytes,
        open: openOf(tool),
        chosen
      }
      const result = resultFromResponse(tool, response, context)
      if (response.statusCode === 401) remarkUnforwarded(tool, outer)
      if (result.isUnpromised) remarkUnpromised(call, response)
      return tool.task === undefined || response.statusCode !== 202 ? result : withWork(call, request, response, result)
    } catch (error) {
      return failed(call, error)
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

  function withWork (
    { tool, outer }: Call,
    request: InnerRequest,
    response: InnerResponse,
    result: ToolResult
  ): ToolResult {
    const rule = rules().get(tool)
    const work = rule && workFromResponse(rule, response, request, outer, maxParamLength, Date.now())
    const { location } = response.headers
    if (work === undefined && location !== undefined) {
      outer.log.warn(
        { tool: tool.public.name, location },
        'the Location of a 202 does not lead to the route that config.mcp.task.status names, so the call is not a task'
      )
    }
    return work === undefined ? result : { ...result, work }
  }

  function failed ({ tool, outer, stop }: Call, error: unknown): ToolResult {
    outer.log.error({ err: error, tool: tool.public.name }, 'the route of a tool did not answer')
    return errorResult(stoppedText(stop, outer, toolTimeout, openOf(tool)))
  }

  const answered = observed(answer)
  if (onToolCall === undefined) return answered
  return async (call) => {
    const start = performance.now()
    const result = await answered(call)
    const { tool: { public: tool }, args, outer: request, stop } = call
    const logError = (error: unknown): void => request.log.error({ err: error }, 'onToolCall failed')
    try {
      const returned = onToolCall({
        tool,
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
    return result
  }
}

/** Which fields the caller reads is nothing that the route does, nor that a person is asked about. */
function withoutFields ({ [FIELDS_ARGUMENT]: _, ...args }: Call['args']): Call['args'] {
  return args
}

function errorTextOf ({ isError, content: [first] }: ToolResult): string | undefined {
  return isError === true && first?.type === 'text' ? first.text : undefined
}

function openOf ({ public: { annotations } }: Tool): string {
  return openOutcome(annotations.readOnlyHint)
}

function isConfirmed (tool: Tool): tool is Parameters<Hold>[0] {
  return tool.confirm !== undefined
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
  const values = tool.input.inputs.flatMap(({ place, name, argument }) =>
    place === 'path' && argument !== undefined && params.has(name)
      ? `${argument} ${JSON.stringify(params.get(name))}`
      : []
  )
  if (values.length > 0) return `${values.join(', ')} cannot be used here: that address belongs ${owner}.`
  if (tool.isForOneHost) return `This tool is not for the host ${excerpt(host ?? 'that was called')}.`
  return `This tool cannot be called: its address belongs ${owner} for this request.`
}
