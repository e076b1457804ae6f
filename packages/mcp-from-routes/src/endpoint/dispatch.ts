import type { FastifyRequest } from 'fastify'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { attempt } from '../attempt.ts'
import type { CallTool } from '../call/call.ts'
import { excerpt } from '../call/excerpt.ts'
import { HEADER_MISMATCH, mismatchOf } from '../call/mismatch.ts'
import type { Calling, Hooks } from '../extension.ts'
import type { Args, Call, Endpoint, Outcome, Tool } from '../model.ts'
import type { Settings } from '../settings.ts'
import { impliedValues } from '../tool/implied.ts'
import { hostError } from './access.ts'

/*
 * From a message to an outcome, for whoever writes the answer: the direct writer and the handlers of the SDK. `find`
 * says what a call comes to, once for each message; `run` makes it.
 */

/** A call as its message has it. */
export interface Asked {
  readonly name: string
  readonly args: Args
  readonly outer: FastifyRequest
  /** Whether the message is of a revision that knows of no headers which repeat arguments. */
  readonly isOlder: boolean
}

/** What a call comes to before it runs: the call of a tool, or an outcome already. */
export interface Found {
  readonly name: string
  readonly start: number
  readonly tool: Tool | undefined
  readonly args: Args
  /** The endpoint's own tool that made the call. */
  readonly through: string | undefined
  readonly outcome: Outcome | undefined
}

/** What writers know of a call beside what was found. */
export type More = Pick<Call, 'outer' | 'era' | 'meta' | 'task' | 'stop' | 'onChunk' | 'round'>

export interface Dispatch {
  readonly find: (asked: Asked) => Found | Promise<Found>
  readonly run: (found: Found, more: More) => Promise<Outcome>
}

/** @param hooks - of all extensions */
export function dispatchOf (
  endpoint: Endpoint,
  call: CallTool,
  hooks: readonly Hooks[],
  { impliedArguments }: Settings
): Dispatch {
  const around = hooks.flatMap((hook) => hook.call ?? [])
  const { own } = endpoint
  // Only extensions ask when a call began.
  const now = around.length === 0 ? () => 0 : () => performance.now()

  function checked (tool: Tool, args: Args, { name, outer, isOlder }: Asked, start: number, through?: string): Found {
    const wrong = tool.mirrored.length === 0
      ? undefined
      : mismatchOf(
        tool.mirrored,
        args,
        outer.raw.headers,
        () => attempt(() => impliedValues(tool, outer, impliedArguments)) ?? {},
        through !== undefined || isOlder
      )
    return {
      name,
      start,
      tool,
      args,
      through,
      outcome: wrong === undefined ? undefined : new ProtocolError(HEADER_MISMATCH, wrong)
    }
  }

  function found (tool: Tool | undefined, asked: Asked, start: number): Found {
    if (tool !== undefined) return checked(tool, asked.args, asked, start)
    const unknown = new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${excerpt(asked.name)}`)
    return ended(asked, start, unknown)
  }

  return {
    find (asked) {
      const { name, args, outer } = asked
      const start = now()
      const failed = (thrown: unknown): Found => ended(asked, start, hostError(outer, thrown))
      if (own?.tools().has(name) === true) {
        return own.call(name, args, outer).then(
          (step) =>
            'tool' in step
              ? checked(step.tool, step.args, asked, start, name)
              : ended(asked, start, step.result),
          failed
        )
      }
      const tool = endpoint.find(name, outer)
      return tool instanceof Promise
        ? tool.then((one) => found(one, asked, start), failed)
        : found(tool, asked, start)
    },
    // Without extensions around calls, a plain one is no more than its tool and its outcome.
    run: around.length === 0
      ? (found, more) => answer(found, more)
      : (found, more) => {
        const calling: Calling = {
          name: found.name,
          tool: found.tool,
          args: found.args,
          outer: more.outer,
          meta: more.meta,
          task: more.task,
          endpoint,
          start: found.start
        }
        return around.reduce<(meta?: Args) => Promise<Outcome>>(
          (run, hook) => (meta) => hook({ ...calling, meta: meta ?? calling.meta }, run),
          (meta) => answer(found, meta === undefined ? more : { ...more, meta })
        )()
      }
  }

  function answer ({ tool, args, through, outcome }: Found, more: More): Promise<Outcome> {
    if (outcome !== undefined || tool === undefined) return Promise.resolve(outcome as Outcome)
    const { outer, era, meta, task, stop, onChunk, round } = more
    return call({ tool, args, outer, era, meta, task, stop, onChunk, round, through, endpoint })
  }
}

function ended ({ name, args }: Asked, start: number, outcome: Outcome): Found {
  return { name, start, tool: undefined, args, through: undefined, outcome }
}
