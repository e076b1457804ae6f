import type { FastifyInstance, FastifyRequest } from 'fastify'
import { targetOf } from '../../call/guard.ts'
import { forwardedNames } from '../../call/headers.ts'
import { injectLoopback, lightLoopback } from '../../call/loopback.ts'
import { headersFor } from '../../call/request.ts'
import { resultFromResponse } from '../../call/result.ts'
import { openOutcome } from '../../call/status.ts'
import type { Tool, ToolResult } from '../../model.ts'
import { Deadlines, Stop, stoppedText } from '../../call/stop.ts'
import type { Settings } from '../../settings.ts'
import { pathFromParts } from '../../tool/path.ts'
import type { InnerResponse } from '../../types.ts'
import { paramsFromLocation } from './location.ts'
import type { TaskRoute, TaskRule } from './rule.ts'
import { stateFromResponse, type Said } from './state.ts'
import { hostsOf } from './work.ts'

/** The work of a tool, followed for one caller. */
export interface Followed {
  readonly tool: Tool
  readonly rule: TaskRule
  readonly params: ReadonlyMap<string, string>
  readonly outer: FastifyRequest
  readonly stop: Stop
}

/** How far some work is, with its result if it has ended. */
export type KnownProgress =
  | Said & { readonly status: 'working' | 'cancelled' }
  | Said & { readonly status: 'completed' | 'failed', readonly result: ToolResult }
  /** The work is done, but its result cannot be read: the app redirects to a URL that a task does not reach. */
  | { readonly status: 'lost', readonly why: string }

/** Why that cannot be known. */
type UnknownProgress =
  | { readonly status: 'unknown' }
  /** The result says why. */
  | { readonly status: 'refused', readonly result: ToolResult }
  | { readonly status: 'unreadable', readonly why: string }

/** What reading the status gives. */
export type Progressed = KnownProgress | UnknownProgress

/**
 * Follows work by requests to the routes of its task. They carry the caller's headers of the moment, and nothing else.
 */
export interface Follower {
  readonly progress: (work: Followed) => Promise<Progressed>
  /** Sends the DELETE. @returns undefined if that went well */
  readonly cancel: (work: Followed, route: TaskRoute) => Promise<UnknownProgress | undefined>
}

/** @param maxParamLength - of the router, in characters */
export function follower (app: FastifyInstance, settings: Settings, maxParamLength: number): Follower {
  const { toolTimeout, maxResultBytes, resultHeaders } = settings
  const forwardHeaders = forwardedNames(settings.forwardHeaders)
  const deadlines = new Deadlines(toolTimeout)

  /** @returns the response, or why there is none */
  async function send (
    { tool, outer, stop: message }: Followed,
    at: TaskRoute,
    params: ReadonlyMap<string, string>
  ): Promise<InnerResponse | string> {
    const target = targetOf({ tool, params, at })
    const request = {
      method: at.method,
      url: pathFromParts(at.path, params),
      params,
      headers: headersFor(at.tool, { headers: outer.raw.headers, forwardHeaders }, false),
      body: undefined
    }
    // Each request has an end of its own: a client that waits for a result causes many.
    const stop = new Stop()
    const forget = message.onStop((reason) => stop.stop(reason))
    const timed = deadlines.start(stop)
    try {
      const response = await (at.tool?.inject === true ? injectLoopback : lightLoopback)(app, request, {
        outer,
        stop,
        maxBytes: maxResultBytes,
        target
      })
      if (target.missed !== undefined) {
        return `The address of this task belongs ${target.missed === 'no route' ? 'to no route' : 'to another route'}.`
      }
      return response ?? stoppedText(stop, outer, toolTimeout, openOf(at))
    } catch (error) {
      outer.log.error({ err: error, tool: tool.public.name }, 'the route of a task did not answer')
      return stoppedText(stop, outer, toolTimeout, openOf(at))
    } finally {
      deadlines.finish(timed)
      forget()
    }
  }

  /** The response as a call of the route would have it. */
  function resultOf (
    { tool, outer }: Followed,
    at: TaskRoute,
    params: ReadonlyMap<string, string>,
    response: InnerResponse
  ): ToolResult {
    const { tool: own, path } = at
    return resultFromResponse(own ?? tool, response, {
      requestId: outer.id,
      url: () => `${outer.protocol}://${outer.host}${pathFromParts(path, params)}`,
      resultHeaders,
      maxResultBytes,
      open: openOf(at)
    })
  }

  async function resultAt (work: Followed, location: string, said: Said): Promise<Progressed> {
    const { rule: { status, result: route }, params, outer, tool } = work
    const found = route &&
      paramsFromLocation(location, route.path, {
        hosts: hostsOf(outer),
        url: pathFromParts(status.path, params),
        maxParamLength
      })
    if (route === undefined || found === undefined) {
      outer.log.warn(
        { tool: tool.public.name, location },
        'the status route of a task leads to a result at a route that config.mcp.task.result does not name'
      )
      return { status: 'lost', why: 'The work is done, but its result is at a route that a task cannot read.' }
    }
    const response = await send(work, route, found)
    if (typeof response === 'string') return { status: 'unreadable', why: response }
    const result = resultOf(work, route, found, response)
    const { statusCode } = response
    if (statusCode === 401 || statusCode === 403) return { status: 'refused', result }
    // These pass, so they are not the result.
    if (statusCode === 429 || statusCode >= 500) return { status: 'unreadable', why: textOf(result) }
    return { ...said, status: 'completed', result }
  }

  return {
    async progress (work) {
      const { rule, params } = work
      const response = await send(work, rule.status, params)
      if (typeof response === 'string') return { status: 'unreadable', why: response }
      const state = stateFromResponse(response, rule, Date.now())
      if (state.status === 'refused') return { ...state, result: resultOf(work, rule.status, params, response) }
      if (state.status !== 'completed' && state.status !== 'failed') return state
      const { location, ...said } = state
      if (location !== undefined) return await resultAt(work, location, said)
      const result = resultOf(work, rule.status, params, response)
      return { ...said, result: said.status === 'failed' ? failed(result) : result }
    },
    async cancel (work, route) {
      const response = await send(work, route, work.params)
      if (typeof response === 'string') return { status: 'unreadable', why: response }
      const { statusCode } = response
      if (statusCode >= 200 && statusCode < 300) return undefined
      if (statusCode === 404 || statusCode === 410) return { status: 'unknown' }
      const result = resultOf(work, route, work.params, response)
      if (statusCode === 401 || statusCode === 403) return { status: 'refused', result }
      return { status: 'unreadable', why: textOf(result) }
    }
  }
}

/** Of the routes of a task, only the DELETE changes something. */
function openOf ({ method }: TaskRoute): string {
  return openOutcome(method !== 'DELETE')
}

/** The body of the status route, as an error for the model. */
function failed ({ structured, content, ...result }: ToolResult): ToolResult {
  return { ...result, content: [{ type: 'text', text: 'The work failed.' }, ...content], isError: true }
}

function textOf ({ content }: ToolResult): string {
  return content.map((block) => block.type === 'text' ? block.text : '').join('\n')
}
