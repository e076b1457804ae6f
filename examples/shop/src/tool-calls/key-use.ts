import type { Knex } from 'knex'
import type { ToolCallEvent } from 'mcp-from-routes'
import { redactor } from '../http/redaction.ts'
import { clientName } from './clients.ts'
import { callKeeper } from './failed-call.ts'
import { type FailedCall, forgetKeyUse, type KeyClient, storeFailedCalls, storeKeyClients } from './key-store.ts'
import { unwritten } from '../unwritten.ts'

/** How many keys with their client, and failed calls of all keys, are kept in memory. */
const MAX_KEYS = 5000
const MAX_FAILED = 1000

/** What is known of the use of API keys besides the counts of calls, and is not written yet. */
export interface KeyUse {
  /** Notes what the client of a message calls itself. @returns whether the last message with this key said otherwise */
  readonly note: (keyId: string, info: unknown) => boolean
  /** Keeps a call that failed. */
  readonly keep: (keyId: string, event: ToolCallEvent) => void
  /** Writes what was noted since the last time. A failure is logged, and tried again the next time. */
  readonly flush: () => Promise<void>
}

/** The client of the last message with a key. */
interface Known {
  /** Its name, title and version as they came. */
  readonly said: readonly unknown[]
  readonly client: Omit<KeyClient, 'at'> | undefined
  /** Whether it will be written. */
  isNoted: boolean
}

/**
 * @param onFailure - called when something could not be written
 * @param marker - starts API keys
 * @param failedCallsKept - of each key
 */
export function keyUse (
  knex: Knex,
  onFailure: (error: unknown, message: string) => void,
  marker: string,
  failedCallsKept: number
): KeyUse {
  const redact = redactor(marker)
  const keep = callKeeper(marker)
  const known = new Map<string, Known>()
  const clients = unwritten<KeyClient>(MAX_KEYS, lastSeen)
  let failed = new Map<string, FailedCall[]>()
  let failedCount = 0
  let hasSurplus = false

  function note (keyId: string, info: unknown): boolean {
    const { name, title, version } = (typeof info === 'object' && info !== null ? info : {}) as Readonly<
      Record<string, unknown>
    >
    const last = known.get(keyId)
    const isSame = last !== undefined && last.said[0] === name && last.said[1] === title && last.said[2] === version
    // Nearly every message ends here.
    if (isSame && last.isNoted) return false
    const found = clientName(info)
    const client = isSame
      ? last.client
      : found && { key_id: keyId, name: redact(found.name), version: redact(found.version) }
    if (known.size >= MAX_KEYS && last === undefined) known.clear()
    known.set(keyId, { said: [name, title, version], client, isNoted: true })
    if (client === undefined) return false
    clients.add(`${keyId} ${client.name}`, { ...client, at: new Date().toISOString() })
    hasSurplus ||= !isSame
    return !isSame
  }

  function add (call: FailedCall): void {
    const calls = failed.get(call.key_id)
    if (calls !== undefined && calls.length >= failedCallsKept) calls.shift()
    else if (failedCount >= MAX_FAILED) return
    else failedCount++
    if (calls === undefined) failed.set(call.key_id, [call])
    else calls.push(call)
    hasSurplus = true
  }

  function taken (): readonly FailedCall[] {
    const calls = [...failed.values()].flat()
    failed = new Map()
    failedCount = 0
    return calls
  }

  async function attempt (what: string, write: () => Promise<void>, again: () => void = () => {}): Promise<void> {
    try {
      await write()
    } catch (error) {
      again()
      onFailure(error, `The ${what} of API keys could not be written`)
    }
  }

  return {
    note,
    keep (keyId, { tool, arguments: args, error = '', statusCode = null }) {
      if (failedCallsKept > 0) {
        add({ key_id: keyId, at: new Date().toISOString(), tool: tool.name, status: statusCode, ...keep(args, error) })
      }
    },
    async flush () {
      const [calls, isSurplus] = [taken(), hasSurplus]
      hasSurplus = false
      for (const client of known.values()) client.isNoted = false
      const keys = new Set(calls.map(({ key_id: id }) => id))
      const storeClients = async (seen: readonly KeyClient[]): Promise<void> => {
        for (const { key_id: id } of seen) keys.add(id)
        await storeKeyClients(knex, seen)
      }
      await attempt('clients', async () => await clients.flush(storeClients))
      if (calls.length > 0) {
        await attempt('failed calls', async () => await storeFailedCalls(knex, calls), () => {
          // Before those that came meanwhile, which are the newer ones.
          for (const call of [...calls, ...taken()]) add(call)
        })
      }
      if (isSurplus) {
        await attempt('surplus', async () => await forgetKeyUse(knex, failedCallsKept, { keys: [...keys] }))
      }
    }
  }
}

function lastSeen (client: KeyClient, other: KeyClient): KeyClient {
  return other.at < client.at ? client : other
}
