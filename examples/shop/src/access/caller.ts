import type { FastifyRequest } from 'fastify'
import { confirmedIn, isInner } from '../http/inner-request.ts'
import { machineOf } from './person.ts'
import type { User } from './user.ts'

/** Who makes a change, and how, as the history records it. */
export interface Actor {
  readonly kind: 'user' | 'machine' | 'api-key' | 'anybody' | 'command' | 'server' | 'scanner'
  /**
   * The id of the person or API key, the name of the machine, the user name in the environment of a command, or the
   * name of the secret scanner; else null.
   */
  readonly id: string | null
  /** The name of the person. That of an API key is read with it. Default: null. */
  readonly name?: string | null
  /** The operation id of the route, the words of the command, or the setting that the server applied at startup. */
  readonly operation: string
  /** The tool that was called; default: null, since the call came over REST. */
  readonly tool?: string | null
  /** The client in which a person confirmed the call, as it calls itself; default: null, since nobody was asked. */
  readonly confirmed?: string | null
  /** Null outside of requests. */
  readonly requestId: string | null
  /** The id of the change that this one reverts. Default: null. */
  readonly reverts?: string | null
}

/** Who makes a change with a request. */
export interface Caller extends Actor {
  /** The person; null for all others. */
  readonly user: User | null
}

/** Who makes a request; `anybody` on public routes. */
export function callerOf (request: FastifyRequest): Caller {
  const { currentUser, id: requestId, method, routeOptions } = request
  const { url = '', schema } = routeOptions
  const operation = schema?.operationId ?? `${method} ${url}`
  const call = { user: currentUser, operation, tool: isInner(request) ? operation : null, requestId }
  // A call is confirmed after its caller is known.
  return {
    ...whoIn(request),
    ...call,
    get confirmed () {
      return confirmedIn(request)
    }
  }
}

function whoIn (request: FastifyRequest): Pick<Caller, 'kind' | 'id' | 'name'> {
  const { identity, currentUser } = request
  if (currentUser !== null) return { kind: 'user', id: currentUser.id, name: currentUser.name }
  if (identity?.kind === 'machine') return { kind: 'machine', id: machineOf(request, identity) }
  if (identity?.kind === 'api-key') return { kind: 'api-key', id: identity.keyId }
  return { kind: 'anybody', id: null }
}
