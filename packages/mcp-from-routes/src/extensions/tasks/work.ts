import type { FastifyRequest } from 'fastify'
import type { Tool, ToolResult } from '../../model.ts'
import { pathFromParts } from '../../tool/path.ts'
import type { InnerRequest, InnerResponse, NamedCall } from '../../types.ts'
import { paramsFromLocation } from './location.ts'
import type { TaskRule, Work } from './rule.ts'
import { bodyOf, messageFrom, pollFrom, timeFrom } from './state.ts'

/** The poll interval if the route sends none, in milliseconds. */
export const DEFAULT_POLL = 5000

/**
 * The work that a tool's route has started: its response is a 202 with a `Location` that leads to the status route.
 * @param now - milliseconds since 1970
 * @returns undefined for every other response
 */
export function workFromResponse (
  rule: TaskRule,
  response: InnerResponse,
  request: Pick<InnerRequest, 'url'>,
  outer: FastifyRequest,
  maxParamLength: number,
  now: number
): Work | undefined {
  const { statusCode, headers: { location, expires, 'retry-after': retryAfter } } = response
  if (statusCode !== 202 || location === undefined) return undefined
  const params = paramsFromLocation(location, rule.status.path, {
    hosts: hostsOf(outer),
    url: request.url,
    maxParamLength
  })
  if (params === undefined) return undefined
  const end = timeFrom(expires)
  return {
    rule,
    params,
    created: now,
    until: end !== undefined && end > now ? end : now + rule.ttl,
    poll: pollFrom(retryAfter, now) ?? DEFAULT_POLL,
    message: messageFrom(bodyOf(response))
  }
}

/** The names under which the client reached this app. */
export function hostsOf ({ raw: { headers }, host }: FastifyRequest): readonly string[] {
  return [...new Set([host, headers.host].filter((name) => typeof name === 'string' && name !== ''))] as string[]
}

/** What the model reads if its client has no tasks: the work is still running, and how to get its status. */
function workText (tool: Tool, { rule: { status }, params, poll }: Work, statusCall: NamedCall | undefined): string {
  const when = `in ${Math.ceil(poll / 1000)} s`
  const name = tool.public.name
  if (statusCall === undefined) {
    return `${name} has started the work, which is still running. Its status is at GET ` +
      `${pathFromParts(status.path, params)}, which no tool of yours reads. Tell the person, who can look there ` +
      `${when}. Do not call ${name} again for the same work.`
  }
  const args = JSON.stringify(statusCall.arguments)
  const next = `Call ${statusCall.name} ${when} with ${args} to get its status, and again until it is done.`
  return `${name} has started the work, which is still running. ${next} Do not call ${name} again for the same work.`
}

/** The arguments that give the path of the status tool these parameters. */
export function statusArguments (
  { request: { input } }: Tool,
  params: ReadonlyMap<string, string>
): Record<string, string> {
  return Object.fromEntries(input.inputs.flatMap(({ place, name, argument }) => {
    const value = place === 'path' ? params.get(name) : undefined
    return value === undefined || argument === undefined ? [] : [[argument, value]]
  }))
}

/** The result of a call that has started work, with a sentence that says so. */
export function workResult (tool: Tool, result: ToolResult, work: Work, statusCall?: NamedCall): ToolResult {
  // Clients that find structured content show the model nothing else.
  const { structured, ...rest } = result
  return { ...rest, content: [{ type: 'text', text: workText(tool, work, statusCall) }, ...result.content] }
}
