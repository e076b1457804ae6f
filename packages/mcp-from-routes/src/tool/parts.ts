import type { BegunCall, Part, Parts, Running, Tool } from '../model.ts'
import type { InnerResponse } from '../types.ts'

/** What the parts of a tool come to. */
export function joined (all: readonly Part[]): Parts {
  return {
    all,
    arguments: new Map(all.flatMap((part) => Object.entries(part.arguments ?? {}))),
    asks: all.some(({ asks }) => asks === true),
    isLater: all.some(({ output }) => output === false),
    isForModels: all.every(({ hidden }) => hidden === undefined),
    needs: all.flatMap(({ needs = [] }) => needs)
  }
}

/** One function for all that extensions do to a call: undefined for a plain tool, whose calls then pay nothing. */
export function beginOf ({ all }: Parts): Tool['begin'] {
  const begins = all.flatMap(({ begin }) => begin ?? [])
  if (begins.length < 2) return begins[0]
  return (call) => {
    let running: Running | undefined
    for (const begin of begins) {
      const begun = begin(call)
      if (begun === undefined) continue
      // One that an extension refuses is a result for those before it.
      if ('outcome' in begun || 'problem' in begun) return running?.end ? { ...begun, end: running.end } : begun
      running = running === undefined ? begun : both(running, begun)
    }
    return running
  }
}

/** The first one comes first, in whatever both do. */
function both (one: Running, other: Running): Running {
  const { gate, response, end } = one
  return {
    ...other,
    ...gate && { gate: other.gate ? async (request) => await gate(request) ?? await other.gate?.(request) : gate },
    ...response && { response: (given: InnerResponse) => (other.response ?? asIs)(response(given)) },
    ...end && {
      end: async (result, ...more) => {
        const ended = await end(result, ...more)
        return await other.end?.(ended, ...more) ?? ended
      }
    }
  }
}

function asIs (response: InnerResponse): InnerResponse {
  return response
}

/** The arguments of a call, by whose they are. */
export function ownAndOthers (
  parts: Parts,
  args: BegunCall['args']
): { readonly own: BegunCall['own'], readonly others: BegunCall['args'] } {
  const own: Record<string, unknown> = {}
  const others: Record<string, unknown> = {}
  for (const name of Object.keys(args)) (parts.arguments.has(name) ? own : others)[name] = args[name]
  return { own, others }
}
