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
  return new RequestCaller(request)
}

/** A copy of it has no `confirmed`, unless that is named. */
class RequestCaller implements Caller {
  readonly kind: Actor['kind']
  readonly id: string | null
  readonly name: string | null
  readonly operation: string
  readonly tool: string | null
  readonly requestId: string
  readonly user: User | null
  readonly #request: FastifyRequest

  constructor (request: FastifyRequest) {
    const { kind, id, name = null } = whoIn(request)
    const { currentUser, id: requestId, method, routeOptions: { url = '', schema } } = request
    this.kind = kind
    this.id = id
    this.name = name
    this.operation = schema?.operationId ?? `${method} ${url}`
    this.tool = isInner(request) ? this.operation : null
    this.requestId = requestId
    this.user = currentUser
    this.#request = request
  }

  /**
   * A call is confirmed after its caller is known. Not a getter of a literal: V8 makes a hidden class for each such
   * object, which keeps the request in memory until the next full collection.
   */
  get confirmed (): string | null {
    return confirmedIn(this.#request)
  }
}

/** Who makes a request, without what they call. */
export function whoIn (request: FastifyRequest): Pick<Caller, 'kind' | 'id' | 'name'> {
  const { identity, currentUser } = request
  if (currentUser !== null) return { kind: 'user', id: currentUser.id, name: currentUser.name }
  if (identity?.kind === 'machine') return { kind: 'machine', id: machineOf(request, identity) }
  if (identity?.kind === 'api-key') return { kind: 'api-key', id: identity.keyId }
  return { kind: 'anybody', id: null }
}
