import { hkdfSync } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { decrypt, encrypt, encryptedFrom, wordFrom } from '#shared/aes-gcm'
import type { Settings } from '../../settings.ts'
import type { Core } from '../../extension.ts'
import { secretsFrom, type Secret } from '../secrets.ts'

/** What the id of a task says to the server that made it: the server keeps nothing of a task. */
export interface SealedTask {
  readonly tool: string
  /** Milliseconds since 1970. */
  readonly created: number
  /** How long the task is known, in milliseconds since 1970. */
  readonly until: number
  /** The path parameters of the status route. Absent where the call had ended already. */
  readonly params?: Readonly<Record<string, string>>
  /** The result of a call that had ended already, as clients read it. */
  readonly result?: Readonly<Record<string, unknown>>
}

/** Makes the ids of tasks, and reads its own again. */
export interface TaskSealer {
  readonly seal: (task: SealedTask, outer: FastifyRequest) => string
  /** @returns undefined for the id of another caller, another server or another key, and for one that was changed */
  readonly open: (id: string, outer: FastifyRequest) => SealedTask | undefined
}

/**
 * Encrypts tasks. The caller is part of what is authenticated, not of the id, so an id tells nobody
 * anything, and opens for its own caller only.
 */
export function taskSealer (
  { serverInfo, secret: given, callerOf }: Pick<Core, 'callerOf'> & Pick<Settings, 'serverInfo'> & {
    readonly secret: Secret | undefined
  }
): TaskSealer {
  // The same secrets sign questions, with keys of their own.
  const keys = secretsFrom(given).map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', 'mcp-from-routes.task', 32))
  )
  const bound = (outer: FastifyRequest): string => JSON.stringify([serverInfo.name, callerOf(outer)])
  return {
    seal: (task, outer) => wordFrom(encrypt(keys[0]!, JSON.stringify(task), bound(outer))),
    open (id, outer) {
      const encrypted = encryptedFrom(id)
      if (encrypted === undefined) return undefined
      const caller = bound(outer)
      for (const key of keys) {
        const text = decrypt(key, encrypted, caller)
        if (text !== undefined) return JSON.parse(text) as SealedTask
      }
      return undefined
    }
  }
}
