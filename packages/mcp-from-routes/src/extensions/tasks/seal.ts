import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { attempt } from '../../attempt.ts'
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

const CIPHER = 'aes-256-gcm'
const IV = 12
const TAG = 16

/**
 * Seals tasks with AES-256-GCM. The caller is part of what is authenticated, not of the id, so an id tells nobody
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
  const bound = (outer: FastifyRequest): Buffer => Buffer.from(JSON.stringify([serverInfo.name, callerOf(outer)]))
  return {
    seal (task, outer) {
      const iv = randomBytes(IV)
      const cipher = createCipheriv(CIPHER, keys[0]!, iv).setAAD(bound(outer))
      const text = [cipher.update(JSON.stringify(task)), cipher.final()]
      return Buffer.concat([iv, ...text, cipher.getAuthTag()]).toString('base64url')
    },
    open (id, outer) {
      const bytes = Buffer.from(id, 'base64url')
      // Decoding skips what is not base64url and ignores the last bits, so other letters would give the same bytes.
      if (bytes.length <= IV + TAG || bytes.toString('base64url') !== id) return undefined
      const caller = bound(outer)
      for (const key of keys) {
        const task = attempt(() => {
          const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV), { authTagLength: TAG }).setAAD(caller)
            .setAuthTag(bytes.subarray(-TAG))
          return JSON.parse(
            `${decipher.update(bytes.subarray(IV, -TAG), undefined, 'utf8')}${decipher.final('utf8')}`
          ) as SealedTask
        })
        if (task !== undefined) return task
      }
      return undefined
    }
  }
}
