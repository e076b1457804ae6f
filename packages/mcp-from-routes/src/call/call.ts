import type { FastifyInstance, FastifyRequest } from 'fastify'
import { excerpt } from './excerpt.ts'
import type { Target } from './guard.ts'
import { injectLoopback, lightLoopback } from './loopback.ts'
import type { OnChunk } from './loopback.ts'
import type { Settings } from '../options.ts'
import { isRefusal, requestFromCall } from './request.ts'
import { errorResult, resultFromResponse } from './result.ts'
import type { ToolResult } from './result.ts'
import { stoppedText } from './stop.ts'
import type { Stop } from './stop.ts'
import type { Tool } from '../tool/tool.ts'

/** A call of a tool for the client of `outer`. */
export interface Call {
  readonly tool: Tool
  readonly args: Readonly<Record<string, unknown>>
  readonly outer: FastifyRequest
  readonly stop: Stop
  readonly onChunk?: OnChunk | undefined
}

/** Calls a tool. Every failure is a result that says so. */
export type CallTool = (call: Call) => Promise<ToolResult>

/** The stages of a call: arguments to request, request to response, response to result. */
export function toolCaller (app: FastifyInstance, settings: Settings): CallTool {
  const { resultHeaders, maxResultBytes, toolTimeout, onToolCall } = settings
  const forwardHeaders = new Set(settings.forwardHeaders)
  const maxParamLength = maxParamLengthOf(app)

  async function answer ({ tool, args, outer, stop, onChunk }: Call): Promise<ToolResult> {
    const request = requestFromCall(tool, args, { headers: outer.raw.headers, forwardHeaders, maxParamLength })
    if (isRefusal(request)) return errorResult(request.refusal)
    const target: Target = { tool, params: request.params }
    const timer = setTimeout(() => stop.stop('timeout'), toolTimeout)
    try {
      const loopback = tool.inject ? injectLoopback : lightLoopback
      const response = await loopback(app, request, { outer, stop, maxBytes: maxResultBytes, target, onChunk })
      if (target.missed !== undefined) return errorResult(missed(target, request.headers.host))
      if (response === undefined) return errorResult(stoppedText(stop, outer, toolTimeout))
      const context = { requestId: outer.id, url: () => `${outer.protocol}://${outer.host}${request.url}`, resultHeaders, maxResultBytes }
      return resultFromResponse(tool, response, context)
    } catch (error) {
      outer.log.error({ err: error, tool: tool.public.name }, 'the route of a tool did not answer')
      return errorResult(stoppedText(stop, outer, toolTimeout))
    } finally {
      clearTimeout(timer)
    }
  }

  if (onToolCall === undefined) return answer
  return async (call) => {
    const start = performance.now()
    const result = await answer(call)
    const { tool: { public: tool }, outer: request, stop } = call
    const failed = (error: unknown): void => request.log.error({ err: error }, 'onToolCall failed')
    try {
      const told = onToolCall({ tool, request, duration: performance.now() - start, isError: result.isError === true, statusCode: result.statusCode, ended: stop.reason })
      // The caller does not wait for it.
      if (told !== undefined) Promise.resolve(told).catch(failed)
    } catch (error) {
      failed(error)
    }
    return result
  }
}

/** The router's own options come first, as they do for Fastify. */
function maxParamLengthOf ({ initialConfig }: FastifyInstance): number {
  const { maxParamLength = 100, routerOptions } = initialConfig as { maxParamLength?: number, routerOptions?: { maxParamLength?: number } }
  return routerOptions?.maxParamLength ?? maxParamLength
}

/** Why a call was refused that would have run another route. Only the log names that route. */
function missed ({ tool, params, missed }: Target, host: string | undefined): string {
  const owner = missed === 'no route' ? 'to no route' : 'to another route'
  if (params.size > 0) {
    const values = [...params].map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')
    return `${values} cannot be used here: that address belongs ${owner}.`
  }
  if (tool.isForOneHost) return `This tool is not for the host ${excerpt(host ?? 'that was called')}.`
  return `This tool cannot be called: its address belongs ${owner} for this request.`
}
