import type { FastifyRequest } from 'fastify'
import type { User } from '../users/user.ts'

/** Who makes a change, and how, as the audit trail records it. */
export interface Actor {
  readonly kind: 'user' | 'machine' | 'api-key' | 'anybody' | 'command' | 'server'
  /**
   * The id of the person or API key, the client id of the machine, or the user name in the environment of a command; else
   * null.
   */
  readonly id: string | null
  /** The operation id of the route, the words of the command, or the setting that the server applied at startup. */
  readonly operation: string
  /** Null outside of requests. */
  readonly requestId: string | null
}

/** Who makes a change with a request. */
export interface Caller extends Actor {
  /** The person; null for all others. */
  readonly user: User | null
}

/** Who makes a request; `anybody` on public routes. */
export function callerOf ({ identity, currentUser, id: requestId, method, routeOptions }: FastifyRequest): Caller {
  const { url = '', schema } = routeOptions
  const call = { user: currentUser, operation: schema?.operationId ?? `${method} ${url}`, requestId }
  if (currentUser !== null) return { kind: 'user', id: currentUser.id, ...call }
  if (identity?.kind === 'machine') return { kind: 'machine', id: identity.clientId, ...call }
  if (identity?.kind === 'api-key') return { kind: 'api-key', id: identity.keyId, ...call }
  return { kind: 'anybody', id: null, ...call }
}
