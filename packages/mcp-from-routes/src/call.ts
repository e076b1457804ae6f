import type { FastifyInstance, FastifyRequest } from 'fastify'
import { excerpt } from './excerpt.ts'
import { injectLoopback, lightLoopback } from './loopback.ts'
import type { OnChunk } from './loopback.ts'
import type { Settings } from './options.ts'
import { isRefusal, requestFromCall } from './request.ts'
import type { InnerRequest } from './request.ts'
import { errorResult, resultFromResponse } from './result.ts'
import type { ToolResult } from './result.ts'
import { rewritesUrls } from './rewrite.ts'
import type { Router } from './router.ts'
import { Stop } from './stop.ts'
import type { McpTool, Tool } from './tool.ts'

/** What is told about a call when it has ended. */
export interface ToolCallEvent {
  readonly tool: McpTool
  /** The request to the endpoint that asked for the call. */
  readonly request: FastifyRequest
  /** From the call's arrival to its result, in milliseconds. */
  readonly duration: number
  /** Whether the model was told of an error. */
  readonly isError: boolean
  /** What the route answered; undefined when it did not: the arguments were refused, or the call was ended early. */
  readonly statusCode: number | undefined
  /** Why the call was ended early. */
  readonly ended: Stop['reason']
}

/** A call of a tool for the client of `outer`. */
export interface Call {
  readonly tool: Tool
  readonly args: Readonly<Record<string, unknown>>
  readonly outer: FastifyRequest
  readonly stop: Stop
  readonly onChunk?: OnChunk | undefined
}

/** Calls a tool. Whatever goes wrong is a result that says so. */
export type CallTool = (call: Call) => Promise<ToolResult>

/**
 * Joins the stages of a call: arguments to request, request to response, response to result.
 * @param router - what is known of the router once the application is ready
 */
export function toolCaller (app: FastifyInstance, settings: Settings, router: () => Router): CallTool {
  const { resultHeaders, maxResultBytes, toolTimeout, onToolCall } = settings
  const forwardHeaders = new Set(settings.forwardHeaders)
  const maxParamLength = maxParamLengthOf(app)
  const rewrites = rewritesUrls(app)

  async function answer ({ tool, args, outer, stop, onChunk }: Call): Promise<ToolResult> {
    const request = requestFromCall(tool, args, { headers: outer.raw.headers, forwardHeaders, maxParamLength })
    if (isRefusal(request)) return errorResult(request.refusal)
    if (!leadsToRoute(app, router(), tool, request)) return errorResult(elsewhere(request))
    const timer = setTimeout(() => stop.stop('timeout'), toolTimeout)
    try {
      const loopback = tool.inject ? injectLoopback : lightLoopback
      const response = await loopback(app, request, { outer, stop, maxBytes: maxResultBytes, rewrites, onChunk })
      if (response === undefined) return errorResult(endedEarly(stop, outer, toolTimeout))
      const context = { requestId: outer.id, url: () => `${outer.protocol}://${outer.host}${request.url}`, resultHeaders, maxResultBytes }
      return resultFromResponse(tool, response, context)
    } catch (error) {
      outer.log.error({ err: error, tool: tool.public.name }, 'the route of a tool did not answer')
      return errorResult(endedEarly(stop, outer, toolTimeout))
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

function endedEarly ({ reason }: Stop, { id }: FastifyRequest, toolTimeout: number): string {
  if (reason === 'timeout') return `The route did not answer within ${toolTimeout} ms. The request id is ${id}.`
  if (reason === 'closing') return 'The server is closing and ended the call, which may have been carried out all the same. Find out before you try again.'
  if (reason === 'client gone') return 'The call was cancelled.'
  return `The route did not answer. The request id is ${id}.`
}

/**
 * Whether the router takes the request to the tool's own route. Another route may be registered for just this
 * value: with `/users/me` beside `/users/:id` the id `me` would run a route that is not a tool. So may one for any
 * other host, beside a tool that is only for one.
 */
function leadsToRoute (app: FastifyInstance, { isOwn }: Router, { public: { route }, constraints: { host } }: Tool, { url, headers, params }: InnerRequest): boolean {
  if (params.size === 0 && host === undefined) return true
  const constraints: { host?: string, version?: string } = {}
  // A strategy that the host put in place of the router's takes its value from elsewhere; no tool has a version then.
  if (headers.host !== undefined && !isOwn('host')) constraints.host = headers.host
  if (headers['accept-version'] !== undefined) constraints.version = headers['accept-version']
  const found = app.findRoute({ method: route.method, url, constraints })?.params
  if (found === undefined) return false
  let count = 0
  for (const name in found) {
    if (found[name] !== params.get(name)) return false
    count += 1
  }
  return count === params.size
}

function elsewhere ({ params, headers }: InnerRequest): string {
  if (params.size === 0) return `This tool is not for the host ${excerpt(headers.host ?? 'that was called')}.`
  const values = [...params].map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')
  return `${values} cannot be used here: that address belongs to another route.`
}
