import type { FastifyRequest } from 'fastify'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { attempt } from '../attempt.ts'
import type { CallTool } from '../call/call.ts'
import { HEADER_MISMATCH, mismatchOf } from '../call/mismatch.ts'
import { withNotice } from '../call/notice.ts'
import type { Calling, Hooks } from '../extension.ts'
import type { Args, Call, Endpoint, Outcome, OwnTools, Tool } from '../model.ts'
import type { Settings } from '../settings.ts'
import { formerNameIn } from '../tool/former.ts'
import { impliedValues } from '../tool/implied.ts'
import { hostError } from './access.ts'
import { unknownText } from './nearest.ts'

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
  /** The former name by which the tool was called. */
  readonly calledAs: string | undefined
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

  function checked (
    { tool, args, calledAs }: Pick<Call, 'tool' | 'args' | 'calledAs'>,
    { name, outer, isOlder }: Asked,
    start: number,
    through?: string
  ): Found {
    const { mirrored } = tool
    const outcome = mirrored.length === 0 ? undefined : mismatched(tool, args, outer, through !== undefined || isOlder)
    return { name, start, tool, args, through, calledAs, outcome }
  }

  function mismatched (tool: Tool, args: Args, outer: FastifyRequest, isOlder: boolean): ProtocolError | undefined {
    const implied = (): Args => attempt(() => impliedValues(tool, outer, impliedArguments)) ?? {}
    const wrong = mismatchOf(tool.mirrored, args, outer.raw.headers, implied, isOlder)
    return wrong === undefined ? undefined : new ProtocolError(HEADER_MISMATCH, wrong)
  }

  function found (tool: Tool | undefined, asked: Asked, start: number): Found | Promise<Found> {
    if (tool === undefined) return unknown(asked, start)
    return checked({ tool, args: asked.args, calledAs: formerNameIn(tool, asked.name) }, asked, start)
  }

  function ownCall (own: OwnTools, asked: Asked, start: number): Promise<Found> {
    const { name, args, outer } = asked
    return own.call(name, args, outer).then(
      (step) => 'tool' in step ? checked(step, asked, start, name) : ended(asked, start, step.result),
      (thrown: unknown) => failed(asked, start, thrown)
    )
  }

  async function unknown (asked: Asked, start: number): Promise<Found> {
    const text = unknownText(asked.name, await endpoint.nearest(asked.name, asked.outer))
    return ended(asked, start, new ProtocolError(ProtocolErrorCode.InvalidParams, text))
  }

  return {
    find (asked) {
      const start = now()
      if (own?.tools().has(asked.name) === true) return ownCall(own, asked, start)
      const tool = endpoint.find(asked.name, asked.outer)
      const one = tool instanceof Promise ? tool.then((one) => found(one, asked, start)) : found(tool, asked, start)
      return one instanceof Promise ? one.catch((thrown: unknown) => failed(asked, start, thrown)) : one
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

  function answer ({ tool, args, through, calledAs, outcome }: Found, more: More): Promise<Outcome> {
    if (outcome !== undefined || tool === undefined) return Promise.resolve(outcome as Outcome)
    const { outer, era, meta, task, stop, onChunk, round } = more
    const called = call({ tool, args, outer, era, meta, task, stop, onChunk, round, through, calledAs, endpoint })
    return calledAs === undefined ? called : called.then((one) => withNotice(one, tool, calledAs))
  }
}

function failed (asked: Asked, start: number, thrown: unknown): Found {
  return ended(asked, start, hostError(asked.outer, thrown))
}

function ended ({ name, args }: Asked, start: number, outcome: Outcome): Found {
  return { name, start, tool: undefined, args, through: undefined, calledAs: undefined, outcome }
}
